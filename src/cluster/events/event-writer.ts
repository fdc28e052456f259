/** A repeated Event is counted in its series, as clients of events.k8s.io do. */
import { createHash } from 'node:crypto'
import { convertToFailure } from '@backporch/kyaml/failure'
import {
  filterObjects,
  formatJson,
  getPartAt,
  getTextAt,
  isJsonObject,
  type JsonObject,
  parseJson,
} from '@backporch/kyaml/json'
import type { Note } from '@backporch/kyaml/note'
import { formatResourceId, getMetadataText } from '@backporch/kyaml/resource'
import type { Clock } from '@backporch/system/clock'
import type { EventsV1Event } from '@kubernetes/client-node/dist/gen/models/EventsV1Event.js'
import type { ReadApi } from '../connection/cluster-api.ts'
import {
  createResponseFailure,
  parseJsonResponse,
  parseStatus,
} from '../connection/kubernetes-failure.ts'
import type { ApiResponse } from '../connection/transport.ts'
import type { WireForm } from '../connection/wire-form.ts'
import { buildObjectPath, Discovery, describeResourceRequest } from '../objects/discovery.ts'
import type { DriftEvent, DriftEvents } from '../ports/drift-events.ts'
import { describeEventRequest, EVENTS_VERSION, type EventApi } from './event-api.ts'

/** Per turn; a note counts the rest. */
export const MOST_EVENTS = 20
const CONTROLLER = 'backporch.dev/controller'
const CLUSTER_SCOPED = 'default'
const METADATA = 'application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1'

type Live = Pick<DriftEvent, 'apiVersion' | 'resourceVersion'> & { readonly uid: string | null }

export class EventWriter implements DriftEvents {
  private readonly api: EventApi
  private readonly reads: ReadApi
  private readonly discovery: Discovery
  private readonly clock: Clock
  private readonly forbidden = new Set<string>()

  constructor(api: EventApi, reads: ReadApi, clock: Clock) {
    this.api = api
    this.reads = reads
    this.discovery = new Discovery(reads, clock)
    this.clock = clock
  }

  async write(events: readonly DriftEvent[], signal: AbortSignal): Promise<readonly Note[]> {
    const notes: Note[] = []
    const left = events.length - MOST_EVENTS
    if (left > 0)
      notes.push(
        this.note(
          `${left} of ${events.length} Events are not written: a turn writes ${MOST_EVENTS} in a cluster`,
        ),
      )
    for (const event of events.slice(0, MOST_EVENTS)) {
      const namespace = event.regarding.namespace || CLUSTER_SCOPED
      if (this.forbidden.has(namespace)) continue
      try {
        notes.push(...(await this.writeOne(event, namespace, signal)))
      } catch (thrown) {
        if (signal.aborted)
          return [...notes, this.note('Events are not written: the time for them is over')]
        const { what, why, remedy } = convertToFailure(thrown)
        return [...notes, this.note(`Events are not written: ${what}: ${why}; ${remedy}`)]
      }
    }
    return notes
  }

  private async writeOne(
    event: DriftEvent,
    namespace: string,
    signal: AbortSignal,
  ): Promise<readonly Note[]> {
    const live = await this.readLive(event, signal)
    const body = buildEventBody(event, live, namespace, formatMicroTime(this.clock))
    const created = await this.api.create(namespace, formatJson(body), signal)
    if (created.status === 403) return this.createRefusalNotes(created, namespace, 'create')
    if (created.status !== 409) return []
    return this.count(namespace, getName(event, live), signal)
  }

  /** An empty patch returns the Event, so that no right to read Events is needed. */
  private async count(
    namespace: string,
    name: string,
    signal: AbortSignal,
  ): Promise<readonly Note[]> {
    const answer = await this.api.patch(namespace, name, '{}', signal)
    if (answer.status === 403) return this.createRefusalNotes(answer, namespace, 'patch')
    const present = parseJson(answer.body)
    if (answer.status !== 200 || !isJsonObject(present)) return []
    const before = getPartAt(present, 'series', 'count')
    const series = {
      count: (typeof before === 'number' ? before : 1) + 1,
      lastObservedTime: formatMicroTime(this.clock),
    }
    // If two controllers count at once, one is rejected.
    const patch = {
      metadata: { resourceVersion: getMetadataText(present, 'resourceVersion') },
      series,
    } satisfies WireForm<Pick<EventsV1Event, 'metadata' | 'series'>>
    await this.api.patch(namespace, name, formatJson(patch), signal)
    return []
  }

  private createRefusalNotes(
    answer: ApiResponse,
    namespace: string,
    verb: 'create' | 'patch',
  ): readonly Note[] {
    // The namespace is being deleted.
    if (
      filterObjects(getPartAt(parseStatus(answer.body), 'details', 'causes')).some(
        (cause) => getTextAt(cause, 'reason') === 'NamespaceTerminating',
      )
    )
      return []
    this.forbidden.add(namespace)
    const { remedy } = createResponseFailure(
      answer,
      describeEventRequest(this.api.cluster, verb, namespace),
    )
    return [
      this.note(
        `no Events are written in namespace ${namespace}, because the account may not: ${remedy}`,
      ),
    ]
  }

  private async readLive(
    { regarding, apiVersion, uid, resourceVersion }: DriftEvent,
    signal: AbortSignal,
  ): Promise<Live> {
    if (uid !== undefined) return { apiVersion, uid, resourceVersion }
    try {
      const { kind, group } = regarding
      const served = await this.discovery.find(apiVersion ?? '', kind, signal, group)
      const requested = describeResourceRequest(this.reads.cluster, 'get', served, regarding)
      const path = buildObjectPath(served, regarding.namespace, regarding.name)
      const answer = await this.reads.get(path, requested, signal, {
        accept: METADATA,
        answers: [404],
      })
      const live = answer.status === 404 ? undefined : parseJsonResponse(answer, requested)
      const text = (field: string): string | undefined =>
        (isJsonObject(live) ? getMetadataText(live, field) : undefined) || undefined
      return {
        apiVersion: served.apiVersion,
        uid: text('uid') ?? null,
        resourceVersion: text('resourceVersion'),
      }
    } catch (thrown) {
      signal.throwIfAborted()
      convertToFailure(thrown)
      return { apiVersion, uid: null, resourceVersion: undefined }
    }
  }

  private note(text: string): Note {
    return { cause: 'events-not-written', subject: this.api.cluster, text }
  }
}

/** The API server lets a client change only the series of an Event. */
function getName({ regarding, reason, note }: DriftEvent, { uid }: Live): string {
  const parts = [formatResourceId(regarding), uid ?? '', reason, note]
  return `backporch-${createHash('sha256').update(JSON.stringify(parts)).digest('hex').slice(0, 24)}`
}

function buildEventBody(
  event: DriftEvent,
  live: Live,
  namespace: string,
  eventTime: string,
): JsonObject {
  const { reason, regarding, note } = event
  const { apiVersion, uid, resourceVersion } = live
  return {
    apiVersion: EVENTS_VERSION,
    kind: 'Event',
    metadata: { name: getName(event, live), namespace },
    eventTime,
    type: reason === 'DriftDetected' ? 'Warning' : 'Normal',
    reason,
    action: 'Compare',
    reportingController: CONTROLLER,
    reportingInstance: 'backporch-controller',
    regarding: {
      ...(apiVersion === undefined ? {} : { apiVersion }),
      kind: regarding.kind,
      ...(regarding.namespace === '' ? {} : { namespace: regarding.namespace }),
      name: regarding.name,
      ...(uid === null ? {} : { uid }),
      ...(resourceVersion === undefined ? {} : { resourceVersion }),
    },
    note,
  } satisfies WireForm<EventsV1Event>
}

function formatMicroTime(clock: Clock): string {
  return clock
    .now()
    .toISOString()
    .replace(/(\.\d{3})Z$/, '$1000Z')
}
