/** Steps of a pipeline, and what runs them as a short text. */
import type { PipelineStep } from '@backporch/kpt/function'
import { type AllowedFunctions, chooseRuntime, NOTHING_ALLOWED } from '@backporch/kpt/runtime'
import { BUILT_IN } from '../../functions/built-in-functions.ts'

export function stepOf({
  image,
  exec,
  tag,
  list = 'mutators',
}: Partial<Record<'image' | 'exec' | 'tag', string>> & {
  list?: PipelineStep['list']
}): PipelineStep {
  const none = {
    configPath: undefined,
    configMap: new Map(),
    selectors: [],
    exclude: [],
    notEvaluated: [],
  }
  return {
    number: 0,
    folder: '',
    list,
    index: 0,
    function: { image, exec, tag, line: 7, ...none },
    kptfile: 'apps/web/Kptfile',
  }
}

/** `set-labels`, `program /x a b`, `module /x`, `image x`, or the code of the failure. */
export function chosen(
  what: Parameters<typeof stepOf>[0],
  allowed: Partial<AllowedFunctions> = {},
): string {
  const choice = chooseRuntime(stepOf(what), { ...NOTHING_ALLOWED, ...allowed }, BUILT_IN)
  if (choice.is === 'refused') return choice.failure.code
  if (choice.is === 'not-run') return `${choice.failure.code} not run`
  if (choice.is === 'program') return ['program', choice.program, ...choice.words].join(' ')
  if (choice.is === 'image') return `image ${choice.image}`
  if (choice.is === 'module')
    return `module ${choice.file}${choice.remark === undefined ? '' : ' remark'}`
  const [name, builtIn] =
    [...BUILT_IN].find(([, { variants }]) => variants.some(({ run }) => run === choice.run)) ?? []
  return `${name} ${builtIn?.variants.findIndex(({ run }) => run === choice.run)}${choice.remark === undefined ? '' : ' remark'}`
}
