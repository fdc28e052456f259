/** Every case, by the recording that has it. */
import type { ArgoCases } from '../argo-case.ts'
import { DIRECTORY_FILES } from './directory-files.ts'
import { DIRECTORY_OBJECTS } from './directory-objects.ts'
import { HELM_CHARTS } from './helm-charts.ts'
import { HELM_RELEASES } from './helm-releases.ts'
import { HELM_VALUES } from './helm-values.ts'
import { KUSTOMIZE_OPTIONS } from './kustomize-options.ts'
import { RANDOM_DIRECTORIES, RANDOM_KUSTOMIZATIONS } from './random.ts'

export const GROUPS = [
  'helm',
  'directory',
  'kustomize',
  'random-directory',
  'random-kustomize',
] as const
export type Group = (typeof GROUPS)[number]

export const CASES: Readonly<Record<Group, ArgoCases>> = {
  helm: { ...HELM_VALUES, ...HELM_RELEASES, ...HELM_CHARTS },
  directory: { ...DIRECTORY_FILES, ...DIRECTORY_OBJECTS },
  kustomize: KUSTOMIZE_OPTIONS,
  'random-directory': RANDOM_DIRECTORIES,
  'random-kustomize': RANDOM_KUSTOMIZATIONS,
}
