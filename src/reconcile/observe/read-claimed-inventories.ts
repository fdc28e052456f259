/**
 * Reads inventories for several packages: the syncer's own resource, a ResourceGroup, or a Helm
 * release; if none is available, the objects with the same mark.
 */
import type {
  ClusterReader,
  Inventory,
  InventoryQuestion,
  ListedLocation,
} from '@backporch/cluster/cluster'
import { convertToFailure, Failure } from '@backporch/kyaml/failure'
import type { JsonObject } from '@backporch/kyaml/json'
import type { Note } from '@backporch/kyaml/note'
import {
  getAnnotations,
  getResourceKey,
  isControlled,
  type LiveView,
  type ResourceId,
} from '@backporch/kyaml/resource'
import { formatPhrase } from '@backporch/kyaml/text'
import { MOST_JUDGED } from '../../status/applier.ts'
import { formatClaimTitle, isMarkedBy } from '../../syncers/claims.ts'
import { KPT_LIVE_TOOL, OWNING_INVENTORY } from '../../syncers/kpt-live.ts'
import { listWritersOfMarks } from '../../syncers/marks.ts'
import { getApplierKind } from '../../syncers/registry.ts'
import type { Claim, ListedResources, SyncerSource } from '../../syncers/syncer.ts'
import type { OwnResources } from './own-resources.ts'
import { readInventories } from './read-inventories.ts'
import type { ClaimedSide, LiveSide } from './read-live-sides.ts'

export interface KnownInventory extends Inventory {
  /** Of `resources`, those that git lacks; undefined if the syncer does not report them. */
  readonly extraneous: readonly ResourceId[] | undefined
  readonly tool: string
  /** Written on the objects; undefined if the tool writes none. */
  readonly id: string | undefined
  readonly reference: boolean
  readonly from: SyncerSource
  readonly marks: (object: JsonObject) => boolean
  /** By `getResourceKey`. */
  readonly claimed: ReadonlySet<string>
  readonly note?: Note
}

type Answer = Inventory | Failure | undefined

interface Search {
  readonly claim: Claim
  readonly side: LiveSide
  readonly source: SyncerSource
  readonly failure: Failure | undefined
  readonly questions: readonly InventoryQuestion[]
  readonly found: ListedResources | undefined
}

/**
 * @returns per side the inventory that the package names and those of the claims on its objects; a
 * Failure for each unreadable one
 * @throws only the reason of `signal`
 */
export async function readClaimedInventories(
  reader: ClusterReader,
  own: OwnResources,
  sides: readonly ClaimedSide[],
  signal: AbortSignal,
): Promise<readonly (readonly (KnownInventory | Failure)[])[]> {
  const judged = sides.map(({ claims }) => claims.slice(0, MOST_JUDGED))
  const answers = await own.read(judged.flat(), signal)
  const searches = sides.map((side, index) =>
    (judged[index] ?? []).flatMap((claim) =>
      isSearched(claim, side) ? [startSearch(claim, side, answers)] : [],
    ),
  )
  const all = searches.flat()
  const given = new InventoryAnswers()
  await given.request(
    reader,
    all.flatMap(({ questions }) => questions),
    signal,
  )
  const first = new Map(all.map((search) => [search, findFirstAnswer(search, given)]))
  const open = all.filter((search) => search.found === undefined && isMissing(first.get(search)))
  await given.request(reader, open.map(buildListingQuestion), signal)
  return sides.map((side, position) => [
    ...getPackageInventories(side),
    ...(searches[position] ?? []).map((search) => {
      const answer = first.get(search)
      return isMissing(answer) && search.found === undefined
        ? findByMarks(search, given, answer)
        : createKnown(search, answer)
    }),
  ])
}

/** A named inventory replaces those of the same tool. */
function isSearched({ tool, name }: Claim, side: LiveSide): boolean {
  const { inventory } = getApplierKind(tool)
  return (
    inventory !== 'none' && (!inventory.ofPackage || (side.inventory === undefined && name !== ''))
  )
}

function startSearch(claim: Claim, side: LiveSide, answers: LiveView): Search {
  const states = claim.wanted.flatMap(({ id }) => answers.get(getResourceKey(id)) ?? [])
  const present = states.find((state) => state.state === 'present')
  const own = present?.state === 'present' ? present.object : undefined
  const unreadable = states.find((state) => state.state === 'unreadable')
  const failure =
    own === undefined && unreadable?.state === 'unreadable' ? unreadable.failure : undefined
  const { inventory, source } = getApplierKind(claim.tool)
  const base = { claim, side, failure, source: source(own) }
  if (inventory === 'none') return { ...base, found: undefined, questions: [] }
  const found = own === undefined ? undefined : inventory.listed(own)
  const namespaces = new Set(
    listIds(side).flatMap((id) => (id.namespace === '' ? [] : [id.namespace])),
  )
  return {
    ...base,
    found,
    questions: found === undefined ? inventory.questions(claim, own, [...namespaces]) : [],
  }
}

function findFirstAnswer({ questions }: Search, given: InventoryAnswers): Answer {
  const answers = questions.map((question) => given.getAnswerTo(question))
  return (
    answers.find((answer) => answer !== undefined && !(answer instanceof Failure)) ??
    answers.find((answer) => answer !== undefined)
  )
}

function isMissing(answer: Answer): answer is Failure | undefined {
  return answer === undefined || answer instanceof Failure
}

function createKnown({ claim, source, found }: Search, answer: Answer): KnownInventory | Failure {
  if (answer instanceof Failure && found === undefined) return answer
  const listed = answer instanceof Failure || answer === undefined ? undefined : answer
  const resources = found?.resources ?? listed?.resources ?? []
  return {
    ...listed,
    ...createDescription(claim, source),
    source: listed?.source ?? formatPhrase(formatClaimTitle(claim)),
    resources,
    extraneous: found?.extraneous,
  }
}

function findByMarks(
  search: Search,
  given: InventoryAnswers,
  before: Failure | undefined,
): KnownInventory | Failure {
  const answer = given.getAnswerTo(buildListingQuestion(search))
  if (answer === undefined || answer instanceof Failure)
    return before ?? search.failure ?? answer ?? createNothingAnsweredFailure()
  const { claim, source } = search
  const writers = listWriters(search)
  // Controller-created objects inherit their owner's labels. A mark proves less than its writer.
  const marked = (answer.objects ?? []).map(
    (object) =>
      !isControlled(object) &&
      isMarkedBy(claim, object) &&
      (writers.size === 0 ||
        [...listWritersOfMarks(object)].some((manager) => writers.has(manager))),
  )
  return {
    ...createDescription(claim, source),
    source: `the objects that are marked as of ${formatPhrase(formatClaimTitle(claim))}`,
    resources: answer.resources.filter((_id, index) => marked[index]),
    extraneous: undefined,
    ...(answer.unread === undefined ? {} : { unread: answer.unread }),
    ...createNote(search, before),
  }
}

/** None if the objects have no managers, or if a copy of the marks claims nothing. */
function listWriters({ claim, side }: Search): ReadonlySet<string> {
  if (getApplierKind(claim.tool).namesObject) return new Set()
  const states = [...claim.objects].flatMap((key) => side.live.get(key) ?? [])
  return new Set(
    states.flatMap((state) =>
      state.state === 'present' ? [...listWritersOfMarks(state.object)] : [],
    ),
  )
}

/** Without Helm's record of a release, the fields that Helm applied are unknown. */
function createNote(
  { questions: [question] }: Search,
  before: Failure | undefined,
): Pick<KnownInventory, 'note'> {
  if (question === undefined || !('helmRelease' in question)) return {}
  const { namespace, name } = question.helmRelease
  const why =
    before === undefined
      ? `no Secret and no ConfigMap of namespace ${namespace} holds it; one that Helm keeps in an SQL database (HELM_DRIVER=sql) cannot be read`
      : `${before.message}: ${before.why}`
  const text = `its release data cannot be read, so fields that its chart dropped are not detected: ${why}`
  return {
    note: { cause: 'helm-release-not-read', subject: `Helm release ${namespace}/${name}`, text },
  }
}

function createDescription(
  claim: Claim,
  from: SyncerSource,
): Omit<KnownInventory, 'source' | 'resources' | 'extraneous'> {
  const { tool, objects } = claim
  const { inventory } = getApplierKind(tool)
  return {
    tool,
    id: inventory === 'none' ? undefined : inventory.id?.(claim),
    reference: false,
    from,
    claimed: objects,
    marks: (object) => isMarkedBy(claim, object),
  }
}

function getPackageInventories({
  inventory,
  live,
  inventoryId,
}: LiveSide): (KnownInventory | Failure)[] {
  if (inventory === undefined || inventory instanceof Failure)
    return inventory === undefined ? [] : [inventory]
  const marks = (object: JsonObject): boolean =>
    inventoryId !== undefined && getAnnotations(object).get(OWNING_INVENTORY) === inventoryId
  const claimed = [...live].flatMap(([key, state]) =>
    state.state === 'present' && marks(state.object) ? [key] : [],
  )
  const from = getApplierKind(KPT_LIVE_TOOL).source(undefined)
  const retained = { tool: KPT_LIVE_TOOL, id: inventoryId, reference: true, marks } as const
  return [{ ...inventory, ...retained, extraneous: undefined, from, claimed: new Set(claimed) }]
}

function buildListingQuestion({ claim, side }: Search): InventoryQuestion {
  const locations = new Map<string, ListedLocation>()
  for (const { group, kind, namespace } of listIds(side))
    locations.set(`${group}/${kind}/${namespace}`, { group, kind, namespace })
  return {
    listing: [...locations.values()],
    labelSelector: getApplierKind(claim.tool).selector(claim) || undefined,
  }
}

function listIds({ resources }: LiveSide): readonly ResourceId[] {
  return resources.flatMap((each) => ('failure' in each ? [] : [each.resource.id]))
}

function createNothingAnsweredFailure(): Failure {
  return convertToFailure(new Error('the cluster adapter gave no answer for an inventory'))
}

class InventoryAnswers {
  private readonly answers = new Map<string, Answer>()

  async request(
    reader: ClusterReader,
    questions: readonly InventoryQuestion[],
    signal: AbortSignal,
  ): Promise<void> {
    const wanted = new Map(questions.map((question) => [JSON.stringify(question), question]))
    const open = [...wanted].filter(([key]) => !this.answers.has(key))
    const answers = await readInventories(
      reader,
      open.map(([, question]) => question),
      signal,
    )
    open.forEach(([key], index) => {
      this.answers.set(key, answers[index])
    })
  }

  getAnswerTo(question: InventoryQuestion): Answer {
    return this.answers.get(JSON.stringify(question))
  }
}
