import type { JsonObject } from '@backporch/kyaml/json'
import { matchesGlob } from '@backporch/kyaml/text'
import { ARGO_CD } from './argo-cd.ts'
import { CONFIG_SYNC } from './config-sync.ts'
import { FLEET } from './fleet.ts'
import { FLUX } from './flux.ts'
import { HELM } from './helm.ts'
import { KAPP } from './kapp.ts'
import { KLUCTL } from './kluctl.ts'
import { KPT_LIVE } from './kpt-live.ts'
import { KUBECTL } from './kubectl.ts'
import { SVELTOS } from './sveltos.ts'
import type { ApplierKind, IgnoreSource, ManagerNames, Syncer } from './syncer.ts'

/** In order of precedence of marks and rules. */
export const SYNCERS: readonly Syncer[] = [
  FLUX,
  ARGO_CD,
  CONFIG_SYNC,
  SVELTOS,
  FLEET,
  KAPP,
  KLUCTL,
  KPT_LIVE,
  HELM,
  KUBECTL,
]

export const APPLIER_KINDS: readonly ApplierKind[] = SYNCERS.flatMap(({ appliers }) => appliers)

export const IGNORE_SOURCES: readonly IgnoreSource[] = SYNCERS.flatMap(({ ignores }) => ignores)

const BY_TOOL = new Map(APPLIER_KINDS.map((kind) => [kind.tool, kind]))

/** @throws Error for a tool of no syncer */
export function getApplierKind(tool: string): ApplierKind {
  const kind = BY_TOOL.get(tool)
  if (kind === undefined) throw new Error(`no syncer has the applier ${tool}`)
  return kind
}

export function findManagerNames(manager: string): ManagerNames | undefined {
  return ALL_NAMES.find(({ names }) => matches(names, manager))
}

export function findSyncerOfManager(manager: string): string | undefined {
  return SYNCERS.find(({ managers }) => managers.some(({ names }) => matches(names, manager)))?.name
}

const ALL_NAMES = SYNCERS.flatMap(({ managers }) => managers)
const ALONE = ALL_NAMES.filter(({ alone }) => alone)

export function isSameProgram(left: string, right: string): boolean {
  const program = findManagerProgram(left)
  return program !== undefined && program === findManagerProgram(right)
}

/** Undefined unless one program alone uses the name. */
export function findManagerProgram(manager: string): string | undefined {
  return ALONE.find(({ names }) => names.includes(manager))?.names[0]
}

/** People leave no marks or directives. */
export function canMarkAs({ managers, marks }: Syncer, manager: string): boolean {
  return (
    marks.writers.includes(manager) ||
    managers.find(({ names }) => matches(names, manager))?.class === 'gitops'
  )
}

export function keepsLastApplied(manager: string): boolean {
  return SYNCERS.some(({ lastAppliedBy }) => matches(lastAppliedBy, manager))
}

export function takesOver(syncer: string, manager: string, live: JsonObject): boolean {
  return findManagerNames(syncer)?.takesOver?.(manager, live) === true
}

function matches(names: readonly string[], manager: string): boolean {
  return names.some((name) => matchesGlob(name, manager))
}
