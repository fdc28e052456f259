/** What Adopt writes for each kind of hand edit, by what applies the files: the table of docs/guides/rendering.md, which a test makes. */

export const KINDS = {
  value: 'a value',
  key: 'a new key',
  item: 'a new item of a list',
  block: 'a removed block',
  renamed: 'the key of an item',
  gone: 'a deleted object',
  added: 'a new object',
} as const
export type EditKind = keyof typeof KINDS

/** Changed files from the folder of the unit, or why nothing is written. */
type Outcome = readonly string[] | { readonly refused: string } | 'not reported'

const IN_FILES = {
  value: ['config.yaml'],
  key: ['config.yaml'],
  item: ['deployment.yaml'],
  block: ['deployment.yaml'],
  renamed: ['service.yaml'],
} as const

export const EDIT_KINDS: { readonly [row: string]: { readonly [Kind in EditKind]: Outcome } } = {
  'a kpt package': { ...IN_FILES, gone: ['config.yaml'], added: 'not reported' },
  'plain files': { ...IN_FILES, gone: ['config.yaml'], added: 'not reported' },
  'a kustomization': {
    ...IN_FILES,
    gone: ['config.yaml', 'kustomization.yaml'],
    added: 'not reported',
  },
  'a Flux Kustomization of a plain folder': {
    ...IN_FILES,
    gone: ['config.yaml'],
    added: ['configmap.yaml'],
  },
  'a Flux Kustomization': {
    ...IN_FILES,
    gone: ['config.yaml', 'kustomization.yaml'],
    added: ['configmap.yaml', 'kustomization.yaml'],
  },
  'an Argo CD Application (directory)': {
    ...IN_FILES,
    gone: ['config.yaml'],
    added: ['configmap.yaml'],
  },
  'an Argo CD Application (kustomize)': {
    ...IN_FILES,
    gone: ['config.yaml', 'kustomization.yaml'],
    added: ['configmap.yaml', 'kustomization.yaml'],
  },
  'a RootSync of Config Sync': { ...IN_FILES, gone: ['config.yaml'], added: 'not reported' },
}

/** As the table has it. */
export function describeOutcome(outcome: Outcome): string {
  if (outcome === 'not reported') return 'not reported'
  if ('refused' in outcome) return `refused: ${outcome.refused}`
  return outcome.map((file) => `\`${file}\``).join(', ')
}
