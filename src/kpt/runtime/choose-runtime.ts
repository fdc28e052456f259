/** A package cannot start a program by naming it. */
import type { Failure } from '@backporch/kyaml/failure'
import { createRuntimeMissingFailure } from '../function/answer-calls.ts'
import type { KrmFunction } from '../function/krm-function.ts'
import type { FailedAnswer, PipelineStep } from '../function/pipeline-step.ts'
import { type BuiltIns, chooseRelease, findNewestBuiltIn } from './choose-release.ts'
import { formatRelease, parseRelease } from './release-version.ts'
import {
  createImageNotAllowedFailure,
  createImageNotPinnedFailure,
  createNoProgramFailure,
  createProgramNotAllowedFailure,
} from './runtime-refused.ts'
import { splitWords } from './split-words.ts'

/** In addition to built-in functions. */
export interface AllowedFunctions {
  /** By `exec` text in a Kptfile, or by absolute path without arguments. */
  readonly exec: readonly string[]
  /** By absolute path. They run in this process. */
  readonly modules?: readonly string[]
  /** Images: a reference, or a prefix that ends with `/`. */
  readonly images: readonly string[]
}

export const NOTHING_ALLOWED: AllowedFunctions = { exec: [], images: [] }

export type ChosenRuntime =
  /** `remark`: for readers of the image's name. */
  | { readonly is: 'built-in'; readonly run: KrmFunction; readonly remark?: string }
  /** An absolute path, or a name on the PATH. */
  | { readonly is: 'program'; readonly program: string; readonly words: readonly string[] }
  | { readonly is: 'module'; readonly file: string; readonly remark?: string }
  | { readonly is: 'image'; readonly image: string }
  /** kpt discards a validator's output, so the objects are the same without it. */
  | { readonly is: 'not-run'; readonly failure: Failure }
  | { readonly is: 'refused'; readonly failure: Failure }

const RELATIVE = 'its path is relative, and there is no base folder for it'

/** The older one gets no new releases. */
const FROZEN_CATALOG = 'gcr.io/kpt-fn/'
const CATALOG = 'ghcr.io/kptdev/krm-functions-catalog/'

export function chooseRuntime(
  step: PipelineStep,
  allowed: AllowedFunctions,
  builtIns: BuiltIns,
): ChosenRuntime {
  const chosen = chooseFor(step, allowed, builtIns)
  return chosen.is === 'refused' && step.list === 'validators'
    ? { is: 'not-run', failure: chosen.failure }
    : chosen
}

function chooseFor(
  step: PipelineStep,
  allowed: AllowedFunctions,
  builtIns: BuiltIns,
): ChosenRuntime {
  const { notEvaluated, image } = step.function
  if (notEvaluated.length > 0) {
    const fields = notEvaluated.join(' and ')
    return {
      is: 'refused',
      failure: createRuntimeMissingFailure(
        step,
        `${fields} is evaluated by kpt from 1.0 on, and not here`,
        `remove ${fields}`,
      ),
    }
  }
  return image === undefined
    ? chooseForExec(step, allowed, builtIns)
    : chooseForImage(step, image, allowed, builtIns)
}

export function createRefusedAnswer(
  failure: Failure,
  allowed: AllowedFunctions,
  builtIns: BuiltIns,
): FailedAnswer {
  const refusalOf = (step: PipelineStep): Failure | undefined => {
    const chosen = chooseRuntime(step, allowed, builtIns)
    return chosen.is === 'refused' ? chosen.failure : undefined
  }
  return { failure, refusalOf }
}

function chooseForExec(
  step: PipelineStep,
  allowed: AllowedFunctions,
  builtIns: BuiltIns,
): ChosenRuntime {
  const text = (step.function.exec ?? '').trim()
  const [program, ...words] = splitWords(text) ?? []
  if (program === undefined) return { is: 'refused', failure: createNoProgramFailure(step) }
  const isName = !program.includes('/')
  const path = program.startsWith('/') ? program : undefined
  if (allowed.exec.includes(text)) {
    if (isName || path !== undefined) return { is: 'program', program, words }
    return { is: 'refused', failure: createProgramNotAllowedFailure(step, RELATIVE) }
  }
  const module = findAllowedModule(program, words, allowed.modules ?? [])
  if (module !== undefined) return module
  // An allowed interpreter with arguments from the package could run anything.
  const byPath =
    words.length > 0
      ? []
      : allowed.exec.filter(
          (each) =>
            each === path || (isName && each.startsWith('/') && each.endsWith(`/${program}`)),
        )
  const [only, second] = byPath
  if (only !== undefined && second === undefined) return { is: 'program', program: only, words }
  const name = getBuiltInName(program)
  const builtIn = builtIns.get(name)
  if (builtIn === undefined || words.length > 0)
    return {
      is: 'refused',
      failure: createProgramNotAllowedFailure(
        step,
        isName || path !== undefined
          ? 'it is not on the list of programs that are allowed'
          : RELATIVE,
      ),
    }
  const [{ run }] = builtIn.variants
  return isName
    ? { is: 'built-in', run }
    : {
        is: 'built-in',
        run,
        remark: `the built-in ${name} replaces the program ${JSON.stringify(program)}`,
      }
}

/** `fn/team.mjs` and `team.mjs` name `/opt/fn/team.mjs`, also behind `node`. */
function findAllowedModule(
  program: string,
  words: readonly string[],
  modules: readonly string[],
): ChosenRuntime | undefined {
  const behindNode = /^(?:.*\/)?node$/.test(program)
  const [path, ...more] = behindNode ? words : [program, ...words]
  if (path === undefined || more.length > 0) return undefined
  const end = path.startsWith('/') ? path : `/${path.replace(/^(?:\.{1,2}\/)+/, '')}`
  const [file, second] = modules.filter((each) =>
    path.startsWith('/') ? each === end : each.endsWith(end),
  )
  if (file === undefined || second !== undefined) return undefined
  const isPath = file !== path && (behindNode || path.includes('/'))
  return {
    is: 'module',
    file,
    ...(isPath
      ? { remark: `the module ${file} replaces the program ${JSON.stringify(path)}` }
      : {}),
  }
}

function getBuiltInName(program: string): string {
  return program.replace(/\/run\.ts$/, '').replace(/^.*\//, '')
}

interface ImageName {
  readonly name: string
  readonly tag: string | undefined
  readonly digest: string | undefined
}

function chooseForImage(
  step: PipelineStep,
  image: string,
  allowed: AllowedFunctions,
  builtIns: BuiltIns,
): ChosenRuntime {
  const { tag } = step.function
  const written = readImage(image)
  // The separate `tag` field replaces tag and digest, as in kpt.
  const named = tag === undefined ? written : { name: written.name, tag, digest: undefined }
  const full = formatImage(named)
  if (allowed.images.includes(image) || allowed.images.includes(full))
    return { is: 'image', image: full }
  const catalog = [CATALOG, FROZEN_CATALOG].find((prefix) => named.name.startsWith(prefix))
  const builtIn = catalog === undefined ? undefined : builtIns.get(named.name.slice(catalog.length))
  const chosen =
    builtIn === undefined || (named.digest !== undefined && named.tag === undefined)
      ? undefined
      : chooseRelease(builtIn, named.tag, catalog === FROZEN_CATALOG)
  if (chosen !== undefined && 'run' in chosen) {
    const { run, release, moves } = chosen
    if (!moves || named.digest !== undefined) return { is: 'built-in', run }
    const reference =
      named.tag === undefined
        ? `${image} without a tag`
        : `the tag ${named.tag} of ${image.replace(/:[^/:]*$/, '')}`
    return {
      is: 'built-in',
      run,
      remark: `${reference} changes its release over time: ${formatRelease(release)} runs`,
    }
  }
  if (allowed.images.some((prefix) => prefix.endsWith('/') && full.startsWith(prefix))) {
    if (named.digest !== undefined || parseRelease(named.tag ?? '') !== undefined)
      return { is: 'image', image: full }
    return { is: 'refused', failure: createImageNotPinnedFailure(step, full) }
  }
  if (catalog === undefined)
    return { is: 'refused', failure: createImageNotAllowedFailure(step, full) }
  const missing = (why: string, instead: string): ChosenRuntime => {
    return {
      is: 'refused',
      failure: createRuntimeMissingFailure(
        step,
        why,
        `${instead}, or allow this image with --allow-image=${full}`,
      ),
    }
  }
  if (builtIn === undefined) return missing('it is not built in', 'use a function that is built in')
  if (chosen === undefined)
    return missing(
      'a digest alone does not name a release',
      'name its release before the digest, as in :v1.2.3@sha256:…',
    )
  const name = named.name.slice(catalog.length)
  const use = findNewestBuiltIn(builtIn)
  return missing(
    chosen.why,
    use === undefined
      ? `name it by exec: ${name}`
      : `use ${CATALOG}${name}:${formatRelease(use)}, which is built in`,
  )
}

function readImage(image: string): ImageName {
  const [, path = image, tag, digest] = /^(.*?)(?::([^/:@]*))?(?:@(.*))?$/s.exec(image) ?? []
  // Up to 1.0.0-beta.58, kpt used the older catalog.
  return {
    name: path.includes('/') ? path : CATALOG + path,
    tag: tag || undefined,
    digest: digest || undefined,
  }
}

function formatImage({ name, tag, digest }: ImageName): string {
  return `${name}${tag === undefined ? '' : `:${tag}`}${digest === undefined ? '' : `@${digest}`}`
}
