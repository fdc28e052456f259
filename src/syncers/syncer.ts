/**
 * All knowledge of one syncer, as one value. Each syncer has a file in this folder and a line in registry.ts, which all other files use. All fields
 * are required, so that the compiler names what a new file lacks; an absent feature is an empty list or `'none'`. docs/facts/applier-managers.md and
 * its neighbours say what was run and what was only read.
 */
import type { InventoryQuestion } from '@backporch/cluster/cluster'
import type { FieldPath } from '@backporch/kyaml/field'
import type { JsonObject } from '@backporch/kyaml/json'
import type { Finding } from '@backporch/kyaml/note'
import type { LiveState, ResourceId, WantedObject } from '@backporch/kyaml/resource'
import type { Phrase } from '@backporch/kyaml/text'

export interface Syncer {
  /** Name for people. */
  readonly name: string
  /** First match wins within a syncer. */
  readonly managers: readonly ManagerNames[]
  /** Names, `*` for any text, that write `kubectl.kubernetes.io/last-applied-configuration`. */
  readonly lastAppliedBy: readonly string[]
  /** Namespaces of its service accounts, as installed. */
  readonly accounts: readonly string[]
  readonly marks: Marks
  /** Annotations that only configure how it applies an object, with the preset that ignores them. */
  readonly directives: ReadonlyMap<string, 'depends-on' | 'client-lifecycle'>
  /** Annotations that request a reconciliation of its own resources (`<group>/<Kind>`). */
  readonly requests: { readonly kinds: RegExp; readonly annotations: RegExp } | 'none'
  readonly appliers: readonly ApplierKind[]
  /** The ignore rules in its own resources. */
  readonly ignores: readonly IgnoreSource[]
  /** The annotation whose presence, with any value, ignores a whole object; `reason` is that of the imported ignore rule. */
  readonly ignoreMark: { readonly annotation: string; readonly reason: string } | 'none'
  readonly check: SyncerCheck | 'none'
}

/** Field managers of one program. */
export interface ManagerNames {
  /** `*` for any text. */
  readonly names: readonly string[]
  /** `human-tool`: people write under these names. */
  readonly class: 'gitops' | 'human-tool'
  /** Whether no other program and no person writes under these names: then one of them is the other under a former name (ADR 18). */
  readonly alone: boolean
  /** What applies under these names in the cluster by itself, `a Flux Kustomization`; `none` where a person has to run it. */
  readonly repeats: string
  /** What writes so, and where that is documented. */
  readonly what: string
  /** Whether its next apply makes the fields of another manager its own, and so removes what git does not declare. Default: no. */
  readonly takesOver?: (manager: string, live: JsonObject) => boolean
}

/** Labels and annotations that a syncer puts on what it applies. They are never in git, and each apply writes them again. */
interface Marks {
  readonly labels: RegExp | 'none'
  readonly annotations: RegExp | 'none'
  /** Labels that others use too: a mark only with this value, if one is given. */
  readonly shared: readonly { readonly label: string; readonly value?: string }[]
  /** Names, beside those of its own that are no person's, under which it marks. */
  readonly writers: readonly string[]
  /** Annotations in which it keeps the whole object. */
  readonly copies: readonly string[]
}

/** One kind of thing that applies a package, and that its marks on the objects name: a Flux Kustomization, a Helm release. */
export interface ApplierKind {
  /** Key in the registry. */
  readonly tool: string
  /** `Flux Kustomization apps/web`; a place that is not known is left out. */
  readonly title: (claim: Pick<Claim, 'kind' | 'namespace' | 'name'>) => Phrase
  /** What the marks of an object name; undefined where it is not marked, or the marks are another object's. */
  readonly claim: (object: MarkedObject) => NamedApplier | undefined
  /** Applier kinds whose library it uses: their marks on an object that it marks are its own. */
  readonly wraps: readonly string[]
  /** Labels with which its objects can be listed; empty where its mark is an annotation, or is not always a label. */
  readonly selector: (claim: Pick<Claim, 'namespace' | 'name'>) => string
  /** @param own its own resource; undefined where it has none or it could not be read */
  readonly source: (own: JsonObject | undefined) => SyncerSource
  readonly inventory: InventoryPlace | 'none'
  /** Marks of a live object by which it keeps what git drops. */
  readonly keeps: readonly KeepRule[]
  /** Whether it applies to the namespace of its own resource and to no other one. */
  readonly ownNamespaceOnly: (claim: Pick<Claim, 'kind'>) => boolean
  /** Annotation with the file, from the root of the repository, that declared the object; `none`. */
  readonly sourcePath: string
  /** Objects that it applies without marks. */
  readonly leavesUnmarked: (object: JsonObject) => boolean
  /** Whether its marks name the object that they are on, so that a copy of them claims nothing. */
  readonly namesObject: boolean
  readonly hooks: HookRule | 'none'
  /** What its own resource reports about itself. */
  readonly report: (own: JsonObject, title: string) => SyncerReport
  /** What it does about drift. */
  readonly judge: (question: ApplierCase) => Judgement
}

export interface MarkedObject {
  readonly id: ResourceId
  readonly labels: ReadonlyMap<string, string>
  readonly annotations: ReadonlyMap<string, string>
  readonly object: JsonObject
}

export interface NamedApplier {
  /** Kind of the syncer's own resource; empty where it has none in this cluster. */
  readonly kind: string
  /** Empty for cluster-scoped kinds, and where the marks do not name it. */
  readonly namespace: string
  readonly name: string
  /** The syncer's own resource, in each place where it may be; empty where there is nothing to read. */
  readonly wanted: readonly WantedObject[]
  /** The Helm release that the marks name, where it uses Helm's library. */
  readonly release?: { readonly namespace: string; readonly name: string }
}

/** One applier that marked objects of the package. */
export interface Claim extends NamedApplier {
  /** Of an `ApplierKind`. */
  readonly tool: string
  /** The objects that are marked, by `resourceKey`. */
  readonly objects: ReadonlySet<string>
}

/** What a syncer applies, as far as its own resource reports it. */
export interface SyncerSource {
  /** Folder in git, empty for the root; undefined where it is not given, or where there are several. */
  readonly folder: string | undefined
  /** What is done to the files of the folder, so that the objects may have other names than git has: `namePrefix`. Undefined: nothing. */
  readonly transformed: string | undefined
  /** Whether it puts objects without a namespace into one of its choice. */
  readonly choosesNamespace: boolean
}

interface InventoryPlace {
  /** The list in the syncer's own resource; undefined where there is none, or not yet. */
  readonly listed: (own: JsonObject) => ListedResources | undefined
  /** Where else it may be; the first that is there counts. Without any the marked objects are listed. */
  readonly questions: (
    claim: Claim,
    own: JsonObject | undefined,
    namespaces: readonly string[],
  ) => readonly InventoryQuestion[]
  /** The id that the tool writes on the objects; empty where it writes none. */
  readonly id: (claim: Claim) => string
  /** Whether an inventory that the package names belongs to it. */
  readonly ofPackage: boolean
}

export interface ListedResources {
  readonly resources: readonly ResourceId[]
  /** The syncer itself reports that its source does not have these; undefined where it reports no such thing. */
  readonly extraneous: readonly ResourceId[] | undefined
}

export interface KeepQuestion {
  readonly annotations: ReadonlyMap<string, string>
  readonly labels: ReadonlyMap<string, string>
  readonly live: JsonObject
  /** Id of the inventory that lists the object, where its tool writes it on the objects; empty otherwise. */
  readonly inventoryId: string
  /** Whether that tool put the id on other objects of the package, so that an object without it lost it. */
  readonly idIsWritten: boolean
}

/** A rule that is built in, and why it holds. */
export interface BuiltInRule {
  readonly rule: string
  readonly why: string
}

export type KeepRule = (question: KeepQuestion) => BuiltInRule | undefined

/** Why a declared hook is rightly not in the cluster. @param runs false: it is not known whether this tool applies the package */
type HookRule = (manifest: JsonObject, runs: boolean) => BuiltInRule | undefined

/** What the syncer reports about itself, where it has a resource that reports anything. */
export interface SyncerReport {
  /** Commit that it applied last; undefined where it names none. */
  readonly applied: string | undefined
  /** Why it is at work just now, as a clause: `Flux Kustomization apps/web is at work`. */
  readonly atWork: string | undefined
  /** Why it applies nothing, as a clause. */
  readonly suspended: string | undefined
  /** `Flux Kustomization apps/web`; undefined where there is none. */
  readonly title: string | undefined
  /** The fault that it reports: `Flux Kustomization apps/web says Ready is False: BuildFailed`. */
  readonly says: string | undefined
  /** Why its last try to apply failed, as a clause; undefined where it did not, or where it waits (`sync-failure.ts`). */
  readonly failed: string | undefined
  /** Since when it is there, RFC 3339 UTC, empty where unknown, of one that has not applied anything yet; undefined of others. */
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
 * When live goes back to git after a Restore is merged. `at-once`: as soon as the applier sees live differ or the
 * merge. `at-interval`: by itself, later. `when-told`: only after a person ran a command. `never`: it leaves these
 * differences alone, or no applier exists. `unknown`: this cannot be determined, for the reason in the sentence.
 */
export type Restores = 'at-once' | 'at-interval' | 'when-told' | 'never' | 'unknown'

export interface Judgement {
  readonly restores: Restores
  /** Whether live goes back to git with no merge at all, perhaps before anyone reviews. */
  readonly revertsUnasked: 'yes' | 'no' | 'unknown'
  readonly sentence: Phrase
  readonly command: string | undefined
  readonly warnings: readonly Phrase[]
}

/** A difference, and the object that holds it where it is there. */
export interface DriftedField {
  readonly drift: {
    readonly id: ResourceId
    readonly change: 'modified' | 'removed' | 'added' | 'missing' | 'unexpected'
    readonly path: FieldPath
    readonly actor: { readonly manager: string }
  }
  readonly live: JsonObject | undefined
}

/** What is known of the syncer's own resource: each place where it may be, with the answer. */
export interface OwnResource {
  readonly wanted: WantedObject
  readonly state: LiveState
}

export interface ApplierCase {
  readonly claim: Claim
  readonly title: Phrase
  readonly own: readonly OwnResource[]
  /** The differences of the objects that it applies. */
  readonly fields: readonly DriftedField[]
  /** How a person applies the package as its syncer did, with kubectl. */
  readonly byHand: string | undefined
  /** The package's folder as one word of a shell. */
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

/** One ignore rule as a syncer's own resource has it. */
export interface ForeignIgnore {
  /** Empty texts for what the rule leaves open. */
  readonly target: Readonly<Record<TargetPart, string>>
  /** JSON Pointers. */
  readonly pointers: readonly string[]
  readonly jq: readonly string[]
  readonly managers: readonly string[]
}

export interface IgnoreSource {
  readonly group: string
  readonly kind: string
  /** The product, as people call it. */
  readonly product: string
  /**
   * How a target names objects. `globs`: group and kind may have `*` and `?`, an empty group is the core group, the rest is exact.
   * `patterns`: anchored regular expressions, empty for any. `exact`: verbatim, empty for any, and whether it is a pattern is not known.
   */
  readonly names: 'globs' | 'patterns' | 'exact'
  readonly rules: (own: JsonObject) => readonly ForeignIgnore[]
  /** Why its rules are not imported; `none` where they are. */
  readonly notImported: string
}

/** What a syncer of a ready cluster reports about a repository. */
interface SyncerCheck {
  readonly kinds: readonly { readonly group: string; readonly kind: string }[]
  /** @param of its resources of a kind */
  readonly judge: (
    of: (kind: string) => readonly JsonObject[],
    repository: SyncedRepository,
  ) => readonly Finding[]
}

export interface StoredFile {
  /** From the root: `.drift/policy.yaml`. */
  readonly path: string
  readonly isRecord: boolean
  /** Its first line is the one that Argo CD skips files by. */
  readonly marked: boolean
  /** Every object in it has the local-config annotation. */
  readonly localConfig: boolean
}

export interface SyncedRepository {
  /** Whether the address is one of this repository. */
  readonly isHere: (address: string) => boolean
  /** The folder that no syncer should apply. */
  readonly folder: string
  /** Files of the base branch in that folder that syncers read. */
  readonly retained: readonly StoredFile[]
  /** Text of every `.sourceignore`, by path from the root. */
  readonly ignoreFiles: ReadonlyMap<string, string>
  /** The root has a kustomization.yaml, so that a Kustomization of the root applies what that lists. */
  readonly rootKustomization: boolean
}
