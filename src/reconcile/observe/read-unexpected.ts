import type { ClusterReader } from '@backporch/cluster/cluster'
import type { DesiredSet } from '@backporch/kpt/desired-set'
import { convertToFailure, Failure } from '@backporch/kyaml/failure'
import type { PackageFiles } from '@backporch/kyaml/files'
import type { JsonObject } from '@backporch/kyaml/json'
import type { Note } from '@backporch/kyaml/note'
import {
  describeResourceId,
  getAnnotations,
  getMetadataText,
  getResourceKey,
  type LiveView,
  type ResourceId,
  type WantedObject,
} from '@backporch/kyaml/resource'
import type { ObjectVerdict, SetAside, SyncerManager } from '../../drift/compare/drift.ts'
import type { HookRunners } from '../../drift/compare/gone-by-design.ts'
import type { StoredManifest } from '../../drift/compare/last-applied.ts'
import { BUILT_IN } from '../../drift/compare/set-aside-gone.ts'
import { DeclaredIds, explainNotOfPackage } from '../../drift/compare/unexpected.ts'
import { findRetentionRule } from '../../drift/compare/unexpected-on-purpose.ts'
import { createUnexpectedVerdict } from '../../drift/detect/make-drift.ts'
import { type Boundary, findBoundaryRefusal, REMEDIES } from '../../policy/boundary.ts'
import { TENANCY_RULES, type TenancyRule } from '../../policy/tenancy-rules.ts'
import type { Incomplete } from '../../record/documents/drift-report.ts'
import { findRenamedByKustomize } from '../../sources/kustomize/files/kustomize-input.ts'
import { getApplierKind } from '../../syncers/registry.ts'
import type { BuiltInRule, Claim } from '../../syncers/syncer.ts'
import { isInside } from '../repository/sources/unit-source.ts'
import type { DeclaredElsewhere, DeclaredObjects } from './declared-objects.ts'
import { NOT_ANSWERED } from './own-resources.ts'
import type { KnownInventory } from './read-claimed-inventories.ts'
import type { LiveSide } from './read-live-sides.ts'

export interface UnexpectedObjects {
  readonly verdicts: readonly ObjectVerdict[]
  readonly live: LiveView
  readonly incomplete: readonly Incomplete[]
  /** The objects may not belong to the package: never drift. */
  readonly notes: readonly Note[]
  /** By `getResourceKey`; undefined if there is no inventory, or one is incomplete. */
  readonly listed: ReadonlySet<string> | undefined
  readonly bearsMark: ReadonlySet<ObjectVerdict>
  readonly reportedBy: ReadonlyMap<ObjectVerdict | Incomplete | Note, KnownInventory>
  /** By `getResourceKey`, with the reason as a clause. */
  readonly refused: ReadonlyMap<string, string>
  /** By `getResourceKey`; undefined if no syncer stores any, or if unknown. */
  readonly stored: ReadonlyMap<string, StoredManifest> | undefined
}

interface InventoriedPackage {
  readonly packagePath: string
  readonly packageName: string
  readonly desired: Pick<DesiredSet, 'resources'>
  readonly files: PackageFiles
  readonly unread: readonly string[]
  readonly side: LiveSide
  readonly inventories: readonly (KnownInventory | Failure)[]
  readonly boundary?: Boundary | undefined
}

interface Candidate {
  readonly id: ResourceId
  readonly inventory: KnownInventory
  /**
   * The live object must name its source file (Config Sync), because the inventory covers more than
   * the package.
   */
  readonly byPath: boolean
}

interface Judged {
  readonly candidates: readonly Candidate[]
  readonly incomplete: readonly Incomplete[]
  readonly notes: readonly Note[]
  readonly reportedBy: Map<Incomplete | Note, KnownInventory>
}

/** @throws only the reason of `signal` */
export async function readUnexpected(
  reader: ClusterReader,
  packages: readonly InventoriedPackage[],
  declared: DeclaredObjects,
  signal: AbortSignal,
): Promise<readonly UnexpectedObjects[]> {
  const judged: Judged[] = []
  for (const each of packages) judged.push(await judge(each, declared, signal))
  const wanted = new Map<string, WantedObject>()
  // The inventory names no version; an empty one requests the server's preferred version.
  for (const { candidates } of judged)
    for (const { id } of candidates) wanted.set(getResourceKey(id), { id, apiVersion: '' })
  const live = await readAll(reader, [...wanted.values()], signal)
  return packages.map((each, index) => ({
    ...decide(each, judged[index] ?? NOTHING, live),
    listed: collectListed(each.inventories),
    refused: collectRefused(each.inventories),
    stored: collectStored(each.inventories),
  }))
}

/** By the marks on live objects; a syncer without marks runs none. */
export function findHookRunners(
  claims: readonly Claim[],
  syncer: SyncerManager | undefined,
): HookRunners {
  return {
    tools: new Set(claims.map(({ tool }) => tool)),
    unknown: claims.length === 0 && syncer === undefined,
  }
}

function collectListed(
  inventories: readonly (KnownInventory | Failure)[],
): ReadonlySet<string> | undefined {
  const whole = inventories.flatMap((each) =>
    each instanceof Failure || each.unread !== undefined ? [] : [each],
  )
  if (whole.length === 0 || whole.length < inventories.length) return undefined
  return new Set(whole.flatMap(({ resources }) => resources.map(getResourceKey)))
}

function collectRefused(
  inventories: readonly (KnownInventory | Failure)[],
): ReadonlyMap<string, string> {
  const refused = inventories.flatMap((each) =>
    each instanceof Failure ? [] : (each.refused ?? []),
  )
  return new Map(refused.map(({ id, why }) => [getResourceKey(id), why]))
}

function collectStored(
  inventories: readonly (KnownInventory | Failure)[],
): ReadonlyMap<string, StoredManifest> | undefined {
  const retained = inventories.flatMap((each) =>
    each instanceof Failure || each.applied === undefined ? [] : [each],
  )
  if (retained.length === 0) return undefined
  const all = retained.flatMap(({ source, rollback, applied = [] }) =>
    applied.map(
      ({ id, apiVersion, object }) =>
        [getResourceKey(id), { apiVersion, object, storedIn: source, rollback }] as const,
    ),
  )
  return new Map(all.reverse())
}

const NOTHING: Judged = { candidates: [], incomplete: [], notes: [], reportedBy: new Map() }

async function readAll(
  reader: ClusterReader,
  wanted: readonly WantedObject[],
  signal: AbortSignal,
): Promise<LiveView | Failure> {
  try {
    return wanted.length === 0 ? new Map() : await reader.readLive(wanted, signal)
  } catch (thrown) {
    signal.throwIfAborted()
    return convertToFailure(thrown)
  }
}

async function judge(
  each: InventoriedPackage,
  declared: DeclaredObjects,
  signal: AbortSignal,
): Promise<Judged> {
  if (each.inventories.length === 0) return NOTHING
  const here = new DeclaredIds(
    [...each.desired.resources, ...each.side.resources.map(({ resource }) => resource)].map(
      ({ id }) => id,
    ),
    declared.namespace,
  )
  const candidates = new Map<string, Candidate>()
  const incomplete: Incomplete[] = []
  const notes: Note[] = []
  const namedBy: Judged['reportedBy'] = new Map()
  for (const inventory of each.inventories) {
    if (inventory instanceof Failure) {
      incomplete.push(createUnreadInventory(inventory))
      continue
    }
    const report = (...reported: readonly Incomplete[]): void => {
      incomplete.push(...reported)
      for (const one of reported) namedBy.set(one, inventory)
    }
    const note = (notified: Note): void => {
      notes.push(notified)
      namedBy.set(notified, inventory)
    }
    report(...(inventory.unread ?? []).map(createUnreadInventory))
    if (inventory.note !== undefined) note(inventory.note)
    const { choosesNamespace, folder } = inventory.from
    const all = listBeyond(inventory).filter((id) => !here.has(id, choosesNamespace))
    const surplus = all.filter((id) => findBoundaryRefusal(each.boundary, id) === undefined)
    const [refused] = all.flatMap((id) => findBoundaryRefusal(each.boundary, id) ?? [])
    if (refused !== undefined)
      report(createListedOutside(inventory.source, all.length - surplus.length, refused.rule))
    if (surplus.length === 0) continue
    if (each.unread.length > 0) {
      report(createUnreadFiles(each.unread, surplus.length))
      continue
    }
    const elsewhere = inventory.reference
      ? NOBODY
      : await declared.readElsewhere(each.packagePath, folder, signal)
    const isElsewhere = (id: ResourceId): boolean =>
      elsewhere.packages.some(({ ids }) => ids.has(id, choosesNamespace))
    const open = surplus.filter((id) => !isElsewhere(id))
    if (open.length === 0) continue
    if (elsewhere.unread.length > 0) {
      report(createUnreadPackages(elsewhere.unread, open.length))
      continue
    }
    const extent = {
      source: inventory.source,
      reference: inventory.reference,
      folder,
      transformed: inventory.from.transformed ?? findRenamedByKustomize(each.files),
      isExtraneous: inventory.extraneous !== undefined,
      here: inventory.resources.filter((id) => here.has(id, choosesNamespace)).length,
      elsewhere: inventory.resources.filter(
        (id) => !here.has(id, choosesNamespace) && isElsewhere(id),
      ).length,
      surplus: open.length,
      coversPackage: listMarked(each.side, inventory).every((key) => inventory.claimed.has(key)),
    }
    const why = explainNotOfPackage(extent, each.packagePath)
    const byPath = why !== undefined && getApplierKind(inventory.tool).sourcePath !== 'none'
    if (why !== undefined && !byPath) note(createNotSurelyNote(each, inventory, open, why))
    else
      for (const id of open)
        if (!candidates.has(getResourceKey(id)))
          candidates.set(getResourceKey(id), { id, inventory, byPath })
  }
  return { candidates: [...candidates.values()], incomplete, notes, reportedBy: namedBy }
}

function listBeyond({ extraneous, resources, later }: KnownInventory): readonly ResourceId[] {
  return extraneous ?? [...resources, ...(later?.resources ?? [])]
}

const NOBODY: DeclaredElsewhere = { packages: [], unread: [] }

function listMarked({ live }: LiveSide, { tool }: KnownInventory): readonly string[] {
  const { leavesUnmarked } = getApplierKind(tool)
  return [...live].flatMap(([key, state]) =>
    state.state === 'present' && !leavesUnmarked(state.object) ? [key] : [],
  )
}

function decide(
  each: InventoriedPackage,
  { candidates, incomplete, notes, reportedBy: before }: Judged,
  live: LiveView | Failure,
): Omit<UnexpectedObjects, 'listed' | 'refused' | 'stored'> {
  const reportedBy: Map<ObjectVerdict | Incomplete | Note, KnownInventory> = new Map(before)
  if (live instanceof Failure) {
    return {
      verdicts: [],
      live: new Map(),
      notes,
      reportedBy,
      bearsMark: new Set(),
      incomplete:
        candidates.length === 0 ? incomplete : [...incomplete, createUnreadInventory(live)],
    }
  }
  const verdicts: ObjectVerdict[] = []
  const bearsMark = new Set<ObjectVerdict>()
  const unread: Incomplete[] = []
  for (const { id, inventory, byPath } of candidates) {
    const state = live.get(getResourceKey(id)) ?? NOT_ANSWERED
    // An object that is already being deleted needs no decision.
    if (
      state.state === 'absent' ||
      (state.state === 'present' && getMetadataText(state.object, 'deletionTimestamp') !== '')
    )
      continue
    if (state.state === 'unreadable') {
      const { code, why, remedy } = state.failure
      const reported: Incomplete = { ref: { ...id }, code, why, remedy }
      unread.push(reported)
      reportedBy.set(reported, inventory)
    } else if (!byPath || isOfFolder(state.object, inventory.tool, each.packagePath)) {
      const verdict = createUnexpectedVerdict(id, state.object, formatListing(inventory, id))
      const retained = findRetentionRule({
        live: state.object,
        tool: inventory.tool,
        inventoryId: inventory.id,
        idIsWritten: inventory.claimed.size > 0,
      })
      const notified = retained === undefined ? verdict : setAside(verdict, retained)
      verdicts.push(notified)
      reportedBy.set(notified, inventory)
      if (inventory.marks(state.object)) bearsMark.add(notified)
    }
  }
  return { verdicts, live, notes, reportedBy, bearsMark, incomplete: [...incomplete, ...unread] }
}

function formatListing({ source, resources, later }: KnownInventory, id: ResourceId): string {
  return later === undefined || resources.some((one) => getResourceKey(one) === getResourceKey(id))
    ? source
    : later.source
}

function isOfFolder(object: JsonObject, tool: string, packagePath: string): boolean {
  const path = getAnnotations(object).get(getApplierKind(tool).sourcePath)
  return path !== undefined && isInside(path, packagePath)
}

function setAside(verdict: ObjectVerdict, retained: BuiltInRule): ObjectVerdict {
  const rule = `${BUILT_IN}${retained.rule}`
  const aside = verdict.items.map(
    (drift): SetAside => ({ drift, state: 'Ignored', why: `${retained.why} (${rule})`, rule }),
  )
  return { ...verdict, state: 'in-sync', items: [], setAside: aside }
}

function createNotSurelyNote(
  { packageName }: InventoriedPackage,
  { source }: KnownInventory,
  open: readonly ResourceId[],
  why: string,
): Note {
  const names = open.slice(0, 3).map(describeResourceId).join(', ')
  const more = open.length > 3 ? ` and ${open.length - 3} more` : ''
  const [are, they, belong] =
    open.length === 1 ? ['is', 'it', 'belongs'] : ['are', 'they', 'belong']
  const text = `${names}${more} ${are} in ${source} and in no package of this repository; cannot tell whether ${they} ${belong} to ${packageName}: ${why}`
  return { cause: 'claimed-by-inventory', subject: '', text }
}

function createUnreadFiles(unread: readonly string[], objects: number): Incomplete {
  return {
    code: 'BP3012',
    why: `${objects} objects of the inventory may be declared in files that were not read: ${unread.slice(0, 3).join(', ')}`,
    remedy: 'replace links, submodules and LFS pointers in the package by the files themselves',
  }
}

function createUnreadPackages(unread: readonly string[], objects: number): Incomplete {
  return {
    code: 'BP3012',
    why: `${objects} objects of the inventory may be declared in packages that cannot be read: ${unread.slice(0, 3).join(', ')}`,
    remedy: 'correct these packages; diff names what is wrong with each',
  }
}

/** The package must not learn which objects an inventory lists elsewhere. */
export function createListedOutside(source: string, count: number, rule: TenancyRule): Incomplete {
  const objects = count === 1 ? 'one object' : `${count} objects`
  return {
    state: 'outside',
    code: 'BP3017',
    why: `${source} lists ${objects} outside what this package covers: ${TENANCY_RULES[rule]} (${rule})`,
    remedy: REMEDIES[rule],
  }
}

function createUnreadInventory({ code, why, remedy }: Failure): Incomplete {
  return { code, why: `the inventory could not be read: ${why}`, remedy }
}
