import { createHash } from 'node:crypto'
import type { DesiredResource } from '@backporch/kpt/desired-set'
import type { Json } from '@backporch/kyaml/json'
import {
  convertShownToJson,
  formatShownPath,
  type RedactionKey,
  redact,
  redactUnread,
  type Shown,
  show,
} from '@backporch/kyaml/redaction'
import type { ResourceId } from '@backporch/kyaml/resource'
import { omitUndefined } from '@backporch/kyaml/text'
import type {
  Actor,
  Drift,
  FieldOwner,
  ObjectVerdict,
  Resolution,
  SetAside,
} from '../drift/compare/drift.ts'
import { computeItemFingerprint } from '../drift/compare/fingerprint.ts'
import { formatHealthMessage, type GroupMember } from '../status/resource-group.ts'
import { computeUnitHealth } from '../status/unit-health.ts'
import type { Change } from './documents/change.ts'
import { createDocumentHead } from './documents/document.ts'
import type { DriftReport, Incomplete, UnitHealth } from './documents/drift-report.ts'
import { freezeDeep } from './known-texts.ts'

interface ResolvedDrift {
  readonly drift: Drift
  readonly resolution: Resolution
  readonly desired?: DesiredResource | undefined
  readonly via?: string | undefined
}

/** Frozen. */
export function showChange(change: ResolvedDrift, key: RedactionKey): Change {
  const { drift, resolution, desired, via } = change
  const source =
    desired === undefined ? undefined : `${desired.location.path}:${desired.location.line}`
  return key.derived.get(drift, `change ${resolution} ${via ?? ''}`, [source], () =>
    freezeDeep(buildChange(change, source, key)),
  )
}

function buildChange(
  { drift, resolution, via }: ResolvedDrift,
  source: string | undefined,
  key: RedactionKey,
): Change {
  const whole = drift.change === 'missing' || drift.change === 'unexpected'
  const git = whole ? undefined : show(key, drift, drift.git)
  const live = whole ? undefined : drift.liveUnread ? redactUnread() : show(key, drift, drift.live)
  const both = pairHidden(drift, git, live, key)
  return {
    ref: getChangeRef(drift.id),
    change: drift.change,
    ...(whole ? {} : { path: formatShownPath(key, drift.id, drift.path) }),
    ...omitUndefined({ git: convertShownToJson(both.git), live: convertShownToJson(both.live) }),
    ...(both.git?.kind === 'redacted' || both.live?.kind === 'redacted' ? { redacted: true } : {}),
    actor: showActor(drift.actor),
    ...omitUndefined({ rolledBack: drift.rolledBack }),
    risk: drift.risk,
    reason: drift.reason,
    resolution,
    ...omitUndefined({ via, source }),
    ...(drift.notes.length === 0 ? {} : { notes: [...drift.notes] }),
    fingerprint: computeItemFingerprint(drift, key),
  }
}

/** In schema order, because the ledger compares texts. Each sink encodes client text. */
function showActor({
  manager,
  operation,
  subresource,
  class: kind,
  at,
  confidence,
  user,
  actingAs,
  others,
}: Actor): Change['actor'] {
  return {
    manager,
    operation: operation ?? '',
    ...(subresource === '' ? {} : { subresource }),
    class: kind,
    at: at ?? '',
    confidence,
    ...omitUndefined({ user, actingAs, others: others?.map(showOwner) }),
  }
}

function showOwner(owner: FieldOwner): NonNullable<Change['actor']['others']>[number] {
  const { manager, operation, subresource, class: kind, at } = owner
  return {
    manager,
    operation,
    ...(subresource === '' ? {} : { subresource }),
    class: kind,
    at: at ?? '',
  }
}

/** If one side is a credential by its form, both are hidden. */
function pairHidden(
  drift: Drift,
  git: Shown,
  live: Shown,
  key: RedactionKey,
): { git: Shown; live: Shown } {
  const hide = (value: Json): Shown => redact(key, drift.id, drift.path, value)
  if (git?.kind === 'redacted' && live?.kind === 'revealed') return { git, live: hide(live.value) }
  if (live?.kind === 'redacted' && git?.kind === 'revealed') return { git: hide(git.value), live }
  return { git, live }
}

const MOST_OBJECTS = 20

/** Worst status, and the objects that are not Current. */
export function showHealth(
  members: readonly GroupMember[],
  incomplete: readonly Incomplete[],
): UnitHealth {
  const { status, others } = computeUnitHealth(members)
  const known = members.length > 0 || incomplete.length === 0
  const objects = others.slice(0, MOST_OBJECTS).map((member) => {
    const message = formatHealthMessage(member) || undefined
    return {
      ref: getChangeRef(member.id),
      status: member.status,
      ...(message === undefined ? {} : { message }),
    }
  })
  return { status: known ? status : 'Unknown', ...(objects.length === 0 ? {} : { objects }) }
}

export function getChangeRef(id: ResourceId): Change['ref'] {
  return { group: id.group, kind: id.kind, namespace: id.namespace, name: id.name }
}

interface ReportInput {
  readonly unit: DriftReport['spec']['unit']
  readonly fingerprint: string
  readonly observedAt: string
  readonly syncer: string
  readonly recorded: boolean
  readonly verdicts: readonly ObjectVerdict[]
  readonly resolutions: ReadonlyMap<Drift, Resolution>
  readonly key: RedactionKey
  readonly status: Omit<DriftReport['status'], 'setAside' | 'incomplete'>
  readonly incomplete: readonly Incomplete[]
}

interface ShownVerdicts {
  readonly changes: Change[]
  readonly setAside: ShownAside[]
  readonly objects: number
}

type ShownAside = NonNullable<DriftReport['status']['setAside']>[number]

function showVerdicts({ verdicts, resolutions, key }: ReportInput): ShownVerdicts {
  return key.derived.get(resolutions, 'report', [verdicts], () => ({
    changes: verdicts.flatMap(({ items, desired }) =>
      items.map((item) =>
        showChange({ drift: item, resolution: resolutions.get(item) ?? 'Restore', desired }, key),
      ),
    ),
    setAside: verdicts.flatMap((verdict) =>
      verdict.setAside.map((aside) => showSetAside(aside, key)),
    ),
    objects: verdicts.filter(({ desired }) => desired !== undefined).length,
  }))
}

export function buildReport(input: ReportInput): DriftReport {
  const { unit } = input
  const { changes, setAside, objects } = showVerdicts(input)
  return {
    ...createDocumentHead('DriftReport', reportName(unit)),
    spec: {
      unit,
      fingerprint: input.fingerprint,
      observed: {
        at: input.observedAt,
        syncer: input.syncer,
        objects,
        ...(input.recorded ? { recorded: true } : {}),
      },
      changes,
    },
    status: {
      ...input.status,
      ...(setAside.length === 0 ? {} : { setAside }),
      ...(input.incomplete.length === 0 ? {} : { incomplete: [...input.incomplete] }),
    },
  }
}

function showSetAside(
  { drift, state, why, rule, commit, stuckSince }: SetAside,
  key: RedactionKey,
): ShownAside {
  const { id, path } = drift
  return {
    ref: getChangeRef(id),
    ...(path.length === 0 ? {} : { path: formatShownPath(key, id, path) }),
    state,
    why,
    ...omitUndefined({ rule, commit, stuckSince }),
  }
}

export function reportName(unit: Pick<DriftReport['spec']['unit'], 'cluster' | 'package'>): string {
  return createHash('sha256').update(`${unit.cluster}\0${unit.package}`).digest('hex').slice(0, 16)
}
