/** See docs/adr/0021. */
import * as z from 'zod'
import { RENDERED_BY_KPT, type RenderChoice } from '../sources/build/render-choice.ts'
import type { PolicyFields, RenderFields } from '../sources/build/source.ts'
import { isSameChoice, SOURCES } from '../sources/registry.ts'

export const renderSchema = z
  .strictObject({
    tool: z
      .enum(['kpt', 'files', 'kustomize', 'helm', 'command'])
      .describe(
        'kpt: the files after the pipeline of the Kptfile. files: the files as they are. kustomize: kubectl kustomize. helm: helm template. command: a program that prints the objects.',
      ),
    path: z
      .string()
      .min(1)
      .max(500)
      .optional()
      .describe(
        'Folder of the kustomization or the chart in the package; the package itself by default.',
      ),
    release: z.string().min(1).max(53).optional().describe('Name of the Helm release.'),
    namespace: z.string().min(1).max(63).optional().describe('Namespace of the Helm release.'),
    values: z
      .array(z.string().min(1).max(500))
      .max(50)
      .optional()
      .describe(
        'Values files for Helm, relative to the folder of the package; ../ leads out of it.',
      ),
    command: z
      .array(z.string().max(1000))
      .min(1)
      .max(50)
      .optional()
      .describe(
        'Program and arguments, run in the folder of the package; the operator allows it with --allow-render.',
      ),
  })
  .superRefine(({ tool, path, command, release, namespace, values }, context) => {
    const problem = (field: string, message: string): void =>
      context.addIssue({ code: 'custom', path: [field], message })
    const { allowed, required } = getPolicyFields(tool)
    for (const [name, value] of Object.entries({
      path,
      release,
      namespace,
      values,
      command,
    }) as readonly [keyof RenderFields, unknown][]) {
      if (value !== undefined && !allowed.includes(name))
        problem(name, `only ${listToolsWith(name)} it`)
      if (value === undefined && required.includes(name))
        problem(name, WANTED[name] ?? 'wanted a value')
    }
    for (const [name, value] of Object.entries({ release, namespace }))
      if (value !== undefined && !/^[a-z0-9]([-a-z0-9]*[a-z0-9])?$/.test(value))
        problem(name, 'wanted lower-case letters, digits and hyphens')
    if (values?.some((each) => each.startsWith('/') || each.includes('\\')) === true)
      problem(
        'values',
        'wanted paths relative to the folder of the package, as in values-prod.yaml',
      )
    if (path !== undefined && parseSegments(path) === undefined)
      problem('path', 'wanted a folder in the package, as in overlays/prod')
    if (command !== undefined && (command[0] ?? '').trim() === '')
      problem('command', 'wanted a program first')
  })

function parseSegments(path: string): readonly string[] | undefined {
  const segments = path.split('/').filter((segment) => segment !== '' && segment !== '.')
  return path.startsWith('/') || path.includes('\\') || segments.includes('..')
    ? undefined
    : segments
}

interface RenderSpec {
  readonly render?: z.infer<typeof renderSchema> | undefined
}

function createRenderChoice({
  tool,
  path = '',
  command = [],
  release = '',
  namespace = '',
  values = [],
}: z.infer<typeof renderSchema>): RenderChoice {
  return getPolicyFields(tool).choiceOf({
    path: (parseSegments(path) ?? []).join('/'),
    command,
    release,
    namespace,
    values,
  })
}

function getPolicyFields(tool: z.infer<typeof renderSchema>['tool']): PolicyFields<RenderChoice> {
  const { policy } = SOURCES[tool]
  if (policy === 'none') throw new TypeError(`no policy can choose ${tool}`)
  return policy
}

const WANTED: { readonly [field in keyof RenderFields]?: string } = {
  release: 'wanted the release of the Helm release',
  namespace: 'wanted the namespace of the Helm release',
  command: 'wanted the program with its arguments',
}

function listToolsWith(field: keyof RenderFields): string {
  const names = Object.entries(SOURCES).flatMap(([name, { policy }]) =>
    policy !== 'none' && policy.allowed.includes(field) ? [name] : [],
  )
  return `${names.join(' and ')} ${names.length === 1 ? 'has' : 'have'}`
}

export function chooseRender(
  matching: readonly RenderSpec[],
  otherwise: RenderChoice = RENDERED_BY_KPT,
): RenderChoice {
  const given = matching.map(({ render }) => render).find((render) => render !== undefined)
  return given === undefined ? otherwise : createRenderChoice(given)
}

/**
 * Each once. A policy for some clusters does not affect the others.
 * @param matching `everywhere`: about every cluster
 * @param otherwise if none sets it
 */
export function listPossibleRenders(
  matching: readonly (RenderSpec & { readonly everywhere: boolean })[],
  otherwise: RenderChoice = RENDERED_BY_KPT,
): readonly RenderChoice[] {
  const choices = matching.flatMap(({ render }) =>
    render === undefined ? [] : [createRenderChoice(render)],
  )
  const all = matching.some(({ render, everywhere }) => render !== undefined && everywhere)
    ? choices
    : [...choices, otherwise]
  return all.filter(
    (choice, index) => all.findIndex((other) => isSameChoice(other, choice)) === index,
  )
}
