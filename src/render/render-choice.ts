/** What makes the objects of a unit of its files, as a policy says it. */
export type RenderChoice =
  /** `kpt fn render`: the files, through the functions of the pipeline where there is one. */
  | { readonly tool: 'kpt' }
  /** The files as they stand in git, whatever pipeline the Kptfile has. */
  | { readonly tool: 'files' }
  /** `path`: folder of the kustomization from the package; empty for the package itself. */
  | { readonly tool: 'kustomize'; readonly path: string }
  /** A program of the operator's that prints the objects. */
  | { readonly tool: 'command'; readonly command: readonly string[] }

export const RENDERED_BY_KPT: RenderChoice = { tool: 'kpt' }

/** `kustomize overlays/prod`, for people. */
export function describeChoice(choice: RenderChoice): string {
  if (choice.tool === 'kustomize') return choice.path === '' ? 'kustomize' : `kustomize ${choice.path}`
  return choice.tool === 'command' ? `the command ${JSON.stringify(choice.command.join(' '))}` : choice.tool
}

export function sameChoice(one: RenderChoice, other: RenderChoice): boolean {
  return JSON.stringify(wordsOf(one)) === JSON.stringify(wordsOf(other))
}

function wordsOf(choice: RenderChoice): readonly string[] {
  if (choice.tool === 'kustomize') return [choice.tool, choice.path]
  return choice.tool === 'command' ? [choice.tool, ...choice.command] : [choice.tool]
}
