/**
 * All knowledge of one syncer, as one value. All fields are required, so the compiler names what a
 * new file lacks. docs/facts/applier-managers.md and related files say what was run and what was
 * only read.
 */
import type { InventoryQuestion } from '@backporch/cluster/cluster'
import type { FieldPath } from '@backporch/kyaml/field'
import type { JsonObject } from '@backporch/kyaml/json'
import type { Finding } from '@backporch/kyaml/note'
import type { LiveState, ResourceId, WantedObject } from '@backporch/kyaml/resource'
import type { Phrase } from '@backporch/kyaml/text'

export interface Syncer {
  readonly name: string
  /** First match wins within a syncer. */
  readonly managers: readonly ManagerNames[]
  /** Names that write `kubectl.kubernetes.io/last-applied-configuration`; `*` for any text. */
  readonly lastAppliedBy: readonly string[]
  readonly accounts: readonly string[]
  readonly marks: Marks
  /** Annotations that only configure the apply, with the preset that ignores them. */
  readonly directives: ReadonlyMap<string, 'depends-on' | 'client-lifecycle'>
  /** `<group>/<Kind>`. */
  readonly requests: { readonly kinds: RegExp; readonly annotations: RegExp } | 'none'
  readonly appliers: readonly ApplierKind[]
  readonly ignores: readonly IgnoreSource[]
  /** With any value it ignores the whole object; `reason` is the imported rule's. */
  readonly ignoreMark: { readonly annotation: string; readonly reason: string } | 'none'
  readonly check: SyncerCheck | 'none'
}

export interface ManagerNames {
  readonly names: readonly string[]
  readonly class: 'gitops' | 'human-tool'
  /** Nobody else writes under these names: one of them is a former name of another (ADR 18). */
  readonly alone: boolean
  /** What applies by itself, `a Flux Kustomization`; `none` if a person has to run it. */
  readonly repeats: string
  readonly what: string
  /** Its next apply then also removes undeclared fields. Default: no. */
  readonly takesOver?: (manager: string, live: JsonObject) => boolean
}

/** Marks are never in git, and each apply rewrites them. */
interface Marks {
  readonly labels: RegExp | 'none'
  readonly annotations: RegExp | 'none'
  /** Labels that others use too: a mark only with this value, if given. */
  readonly shared: readonly { readonly label: string; readonly value?: string }[]
  /** In addition to its own non-human names. */
  readonly writers: readonly string[]
  readonly copies: readonly string[]
}

export interface ApplierKind {
  readonly tool: string
  readonly title: (claim: Pick<Claim, 'kind' | 'namespace' | 'name'>) => Phrase
  /** Undefined if the object is not marked, or the marks are another object's. */
  readonly claim: (object: MarkedObject) => NamedApplier | undefined
  /** Applier kinds whose library it uses: their marks on its objects are its own. */
  readonly wraps: readonly string[]
  /** Empty if its mark is an annotation, or not always a label. */
  readonly selector: (claim: Pick<Claim, 'namespace' | 'name'>) => string
  /** @param own undefined if it has none or it is unreadable */
  readonly source: (own: JsonObject | undefined) => SyncerSource
  readonly inventory: InventoryPlace | 'none'
  /** Marks by which it keeps a live object that git drops. */
  readonly keeps: readonly KeepRule[]
  readonly ownNamespaceOnly: (claim: Pick<Claim, 'kind'>) => boolean
  /** Annotation with the declaring file, from the repository root; or `none`. */
  readonly sourcePath: string
  readonly leavesUnmarked: (object: JsonObject) => boolean
  /** Its marks name the object that they are on, so a copy of them claims nothing. */
  readonly namesObject: boolean
  readonly hooks: HookRule | 'none'
  readonly report: (own: JsonObject, title: string) => SyncerReport
  readonly judge: (question: ApplierCase) => Judgement
}

export interface MarkedObject {
  readonly id: ResourceId
  readonly labels: ReadonlyMap<string, string>
  readonly annotations: ReadonlyMap<string, string>
  readonly object: JsonObject
}

export interface NamedApplier {
  /** Empty if it has no resource in this cluster. */
  readonly kind: string
  /** Empty for cluster-scoped kinds, and if the marks do not name it. */
  readonly namespace: string
  readonly name: string
  /** Its own resource in each possible location; empty if there is nothing to read. */
  readonly wanted: readonly WantedObject[]
  readonly release?: { readonly namespace: string; readonly name: string }
}

export interface Claim extends NamedApplier {
  readonly tool: string
  /** Marked objects, by `getResourceKey`. */
  readonly objects: ReadonlySet<string>
}

export interface SyncerSource {
  /** Empty for the root; undefined if not given, or if there are several. */
  readonly folder: string | undefined
  /** What may rename objects: `namePrefix`. Undefined: nothing. */
  readonly transformed: string | undefined
  readonly choosesNamespace: boolean
}

interface InventoryPlace {
  /** Undefined if absent, or not yet present. */
  readonly listed: (own: JsonObject) => ListedResources | undefined
  /**
   * Other possible locations; the first existing one counts. Without any, the marked objects are
   * listed.
   */
  readonly questions: (
    claim: Claim,
    own: JsonObject | undefined,
    namespaces: readonly string[],
  ) => readonly InventoryQuestion[]
  /** Written on the objects. */
  readonly id?: (claim: Claim) => string | undefined
  readonly ofPackage: boolean
}

export interface ListedResources {
  readonly resources: readonly ResourceId[]
  readonly extraneous: readonly ResourceId[] | undefined
}

export interface KeepQuestion {
  readonly annotations: ReadonlyMap<string, string>
  readonly labels: ReadonlyMap<string, string>
  readonly live: JsonObject
  /** Undefined if the tool does not write the inventory's id on objects. */
  readonly inventoryId: string | undefined
  /** Other objects of the package have the id, so an object without it lost it. */
  readonly idIsWritten: boolean
}

export interface BuiltInRule {
  readonly rule: string
  readonly why: string
}

export type KeepRule = (question: KeepQuestion) => BuiltInRule | undefined

/**
 * Why a declared hook is rightly absent. @param runs false: it is unknown whether this tool applies
 * the package
 */
type HookRule = (manifest: JsonObject, runs: boolean) => BuiltInRule | undefined

export interface SyncerReport {
  readonly applied: string | undefined
  /** A clause: `Flux Kustomization apps/web is at work`. */
  readonly atWork: string | undefined
  readonly suspended: string | undefined
  readonly title: string | undefined
  readonly says: string | undefined
  /** A clause; undefined if its last apply did not fail, or if it waits (`sync-failure.ts`). */
  readonly failed: string | undefined
  /**
   * Creation time of a syncer that has not applied anything yet: RFC 3339 UTC, empty if unknown;
   * undefined for others.
   */
  readonly unappliedSince: string | undefined
  /** Seconds between two of its applies. */
  readonly interval: number | undefined
}

export const NO_SYNCER_REPORT: SyncerReport = {
  applied: undefined,
  atWork: undefined,
  suspended: undefined,
  title: undefined,
  says: undefined,
  failed: undefined,
  unappliedSince: undefined,
  interval: undefined,
}

/**
 * When live reverts to git after a Restore is merged. `at-once`: when the applier sees the
 * difference or the merge. `at-interval`: by itself, later. `when-told`: after a person ran a
 * command. `never`: it leaves these differences alone, or no applier exists. `unknown`: the
 * sentence says why.
 */
export type Restores = 'at-once' | 'at-interval' | 'when-told' | 'never' | 'unknown'

export interface Judgement {
  readonly restores: Restores
  /** Whether live reverts without a merge, possibly before a review. */
  readonly revertsUnasked: 'yes' | 'no' | 'unknown'
  readonly sentence: Phrase
  readonly command: string | undefined
  readonly warnings: readonly Phrase[]
}

export interface DriftedField {
  readonly drift: {
    readonly id: ResourceId
    readonly change: 'modified' | 'removed' | 'added' | 'missing' | 'unexpected'
    readonly path: FieldPath
    readonly actor: { readonly manager: string }
  }
  readonly live: JsonObject | undefined
}

export interface OwnResource {
  readonly wanted: WantedObject
  readonly state: LiveState
}

export interface ApplierCase {
  readonly claim: Claim
  readonly title: Phrase
  readonly own: readonly OwnResource[]
  readonly fields: readonly DriftedField[]
  readonly byHand: string | undefined
  /** As one shell word. */
  readonly folder: string
}

export type TargetPart =
  | 'group'
  | 'version'
  | 'kind'
  | 'namespace'
  | 'name'
  | 'labelSelector'
  | 'annotationSelector'

export interface ForeignIgnore {
  /** Empty: the rule leaves it open. */
  readonly target: Readonly<Record<TargetPart, string>>
  readonly pointers: readonly string[]
  readonly jq: readonly string[]
  readonly managers: readonly string[]
}

export interface IgnoreSource {
  readonly group: string
  readonly kind: string
  readonly product: string
  /**
   * `globs`: group and kind may have `*` and `?`, an empty group is the core group, the rest is
   * exact. `patterns`: anchored regular expressions, empty for any. `exact`: verbatim, empty for
   * any, possibly a pattern.
   */
  readonly names: 'globs' | 'patterns' | 'exact'
  readonly rules: (own: JsonObject) => readonly ForeignIgnore[]
  /** `none` if its rules are imported. */
  readonly notImported: string
}

interface SyncerCheck {
  readonly kinds: readonly { readonly group: string; readonly kind: string }[]
  readonly judge: (
    of: (kind: string) => readonly JsonObject[],
    repository: SyncedRepository,
  ) => readonly Finding[]
}

export interface StoredFile {
  /** From the root: `.drift/policy.yaml`. */
  readonly path: string
  readonly isRecord: boolean
  /** Its first line makes Argo CD skip the file. */
  readonly marked: boolean
  readonly localConfig: boolean
}

export interface SyncedRepository {
  readonly isHere: (address: string) => boolean
  readonly folder: string
  /** Files of the base branch in the folder that syncers read. */
  readonly retained: readonly StoredFile[]
  /** By path from the root. */
  readonly ignoreFiles: ReadonlyMap<string, string>
  /** A Kustomization of the root then applies only what that file lists. */
  readonly rootKustomization: boolean
}
