/**
 * A package that feeds several clusters from one folder and differs in the same way in each gets
 * one proposal: one unit's ordinary one, with the others' records on its branch.
 */
import { createHash } from 'node:crypto'
import { parseWorkspaceBranch } from '@backporch/git-store/ref-name'
import { compareText, omitUndefined } from '@backporch/kyaml/text'
import { formatHouseMessage } from '../../../policy/house-rules.ts'
import { formatProposalMessage, type MessageSubject } from '../../../record/commit-message.ts'
import { type DriftRecord, driftRecordSchema } from '../../../record/documents/drift-record.ts'
import { formatInertDocument, isSameDocument } from '../../../record/write-document.ts'
import {
  type GitWrites,
  NO_WRITES,
  type PlannedCommit,
  type PlannedUpdate,
} from '../../observation/action.ts'
import { computeUnixSeconds } from '../../observation/closed-episode.ts'
import type { JointLocation } from '../../observation/joint-location.ts'
import type { Observation } from '../../observation/observation.ts'
import type { PlannedResult } from '../../unit/unit-result.ts'
import {
  getUnitRecordPath,
  isExcluded,
  listAwayRecords,
  type OpenJointProposal,
} from './open-joint-proposals.ts'

export interface JointGroup {
  readonly location: JointLocation
  readonly members: readonly PlannedResult[]
}

/**
 * Units stay with their open joint proposal while they have its cause. New ones are joined if at
 * least `fewest` clusters have the cause, including unobserved clusters.
 */
export function findGroups(
  units: readonly PlannedResult[],
  openProposal: ReadonlyMap<string, OpenJointProposal>,
  fewest: number,
): readonly JointGroup[] {
  const outside = new Set(units.filter((member) => isOutside(member, openProposal)))
  const groups = Map.groupBy(
    units.filter(mayJoin),
    (member) =>
      `${member.unit.packagePath}\0${computeCauseKey(member.plan.record)}\0${outside.has(member)}`,
  )
  const owners = new Map(
    [...openProposal].map(([ref, open]) => [ref, findOwner(open, groups, outside)]),
  )
  return [...groups].flatMap(([key, members]) => {
    const [first] = members
    if (first === undefined) return []
    const cause = computeCauseKey(first.plan.record)
    const own = [...openProposal.values()]
      .filter(({ ref }) => owners.get(ref) === key)
      .toSorted(compareStart)
    const joint = own.find(({ records }) => records.length > 1)
    const alike = (joint === undefined ? own : [joint]).flatMap((open) =>
      listAwayRecords(open).flatMap(({ record }) =>
        computeCauseKey(record) === cause ? [record] : [],
      ),
    )
    const clusters = new Set([
      ...members.map(({ unit }) => unit.cluster),
      ...alike.map(({ spec }) => spec.unit.cluster),
    ])
    if (joint === undefined && clusters.size < Math.max(2, fewest)) return []
    const open = joint ?? own[0]
    const ref = open?.ref ?? `refs/heads/${first.plan.branch}`
    const workspace = parseWorkspaceBranch(ref)?.workspace
    const there =
      members.find(({ plan }) => plan.openBranches.some((branch) => branch.ref === ref))?.plan
        .record ?? alike[0]
    const chosen = members.find(({ resolutionRequest }) => resolutionRequest !== undefined)?.plan
      .record
    const like = chosen ?? there ?? first.plan.record
    if (workspace === undefined || like === undefined) return []
    return [
      {
        location: {
          ref,
          workspace,
          like: setExcludes(like, open === undefined ? [] : open.excludes),
          files: true,
        },
        members,
      },
    ]
  })
}

/** The group with most of its records; undefined if it has a record of none. */
function findOwner(
  open: OpenJointProposal,
  groups: ReadonlyMap<string, readonly PlannedResult[]>,
  outside: ReadonlySet<PlannedResult>,
): string | undefined {
  let [owner, most]: [string | undefined, number] = [undefined, 0]
  for (const [key, members] of groups) {
    const [first] = members
    if (
      first === undefined ||
      open.records.every(({ record }) => record?.spec.unit.package !== first.unit.packagePath)
    )
      continue
    const cause = computeCauseKey(first.plan.record)
    const isOut = open.records.length > 1 && outside.has(first)
    const here = members.filter(({ plan }) =>
      plan.openBranches.some((branch) => branch.ref === open.ref),
    ).length
    const away = listAwayRecords(open).filter(
      ({ record }) => computeCauseKey(record) === cause,
    ).length
    if (!isOut && here + away > most) [owner, most] = [key, here + away]
  }
  return owner
}

function isOutside(
  { unit }: PlannedResult,
  openProposal: ReadonlyMap<string, OpenJointProposal>,
): boolean {
  return [...openProposal.values()].some(
    ({ records, excludes }) =>
      records.some(({ record }) => record?.spec.unit.package === unit.packagePath) &&
      isExcluded(unit.cluster, excludes),
  )
}

function setExcludes(record: DriftRecord, excludes: readonly string[]): DriftRecord {
  const { excludes: _before, ...spec } = record.spec
  return {
    ...record,
    spec: { ...spec, ...(excludes.length === 0 ? {} : { excludes: [...excludes] }) },
  }
}

/** Whatever is planned for them. Hidden values count by their keyed hash. */
export function computeCauseKey(record: DriftRecord | undefined): string {
  if (record === undefined) return ''
  const changes = record.spec.changes.map(({ ref, change, path, git, live, actor }) => [
    ref,
    change,
    path,
    git,
    live,
    actor.manager,
  ])
  return createHash('sha256').update(JSON.stringify(changes)).digest('hex')
}

function mayJoin({ plan }: PlannedResult): boolean {
  return (
    plan.record?.spec.lifecycle === 'Proposed' &&
    ['created', 'updated', 'unchanged'].includes(plan.outcome)
  )
}

function compareStart(left: OpenJointProposal, right: OpenJointProposal): number {
  const began = ({ records }: OpenJointProposal): string =>
    records.map(({ record }) => record?.spec.began ?? '').sort()[0] ?? ''
  const [one, other] = [`${began(left)} ${left.ref}`, `${began(right)} ${right.ref}`]
  return compareText(one, other)
}

export function alignRecord(record: DriftRecord, like: DriftRecord): DriftRecord {
  const { plan, message, plannedBy, plannedBefore, settle, excludes } = like.spec
  const {
    message: _message,
    plannedBy: _by,
    plannedBefore: _before,
    excludes: _excludes,
    ...spec
  } = record.spec
  // In schema order, as it is read back: the same record is the same bytes.
  return driftRecordSchema.parse({
    ...record,
    spec: {
      ...spec,
      changes: spec.changes.map((change, index) => ({
        ...change,
        resolution: like.spec.changes[index]?.resolution ?? change.resolution,
      })),
      plan,
      settle,
      ...omitUndefined({ message, plannedBy, plannedBefore, excludes }),
    },
  })
}

export interface JointProposal {
  readonly ref: string
  readonly members: readonly PlannedResult[]
  readonly away: readonly DriftRecord[]
  readonly writes: GitWrites
}

/** Nothing is written if every member, its text and the package are unchanged. */
export function buildJoint(
  { location, members }: JointGroup,
  openProposal: OpenJointProposal | undefined,
): JointProposal {
  const { ref, like } = location
  const files = new Map(
    members.flatMap(({ plan }) => (plan.joint ?? []).map((change) => [change.path, change])),
  )
  const own = new Set(
    members.flatMap(({ unit, plan: { record } }) =>
      record === undefined ? [] : [getUnitRecordPath(unit, record)],
    ),
  )
  const cause = computeCauseKey(like)
  const away: DriftRecord[] = []
  let isNew = openProposal === undefined || members.some(({ plan }) => plan.outcome !== 'unchanged')
  for (const { path, record } of openProposal?.records ?? []) {
    if (own.has(path)) continue
    const stays =
      openProposal !== undefined &&
      listAwayRecords(openProposal).some((one) => one.path === path) &&
      computeCauseKey(record) === cause
    const aligned = stays && record !== undefined ? alignRecord(record, like) : undefined
    if (aligned === undefined || !isSameDocument(aligned, record ?? {})) isNew = true
    if (aligned === undefined) continue
    away.push(aligned)
    files.set(path, { path, content: new TextEncoder().encode(formatInertDocument(aligned)) })
  }
  const [first] = members
  if (first === undefined || !isNew) return { ref, members, away, writes: NO_WRITES }
  const { git } = first.observation
  const records = [
    ...members.flatMap(({ plan }) => (plan.record === undefined ? [] : [plan.record])),
    ...away,
  ]
  const { message, signOff } = applyHouseStyle(
    first.observation,
    createMessageSubject(first.observation, like, location.workspace, records),
  )
  const at = members.reduce(
    (latest, { observation: { cluster } }) =>
      cluster.observedAt > latest ? cluster.observedAt : latest,
    '',
  )
  return {
    ref,
    members,
    away,
    writes: createJointWrites(
      { ref, from: openProposal?.commit ?? null },
      {
        parents: [git.base],
        base: git.base,
        changes: [...files.values()],
        message,
        signOff,
        at: computeUnixSeconds(at),
      },
    ),
  }
}

function applyHouseStyle({ policy: { house } }: Observation, subject: MessageSubject) {
  return {
    message: formatHouseMessage(formatProposalMessage(subject, 'Proposed'), house.commit),
    signOff: house.commit.signOff,
  }
}

/**
 * All units of the turn left: the remaining records stay until a turn observes one of their
 * clusters.
 */
export function leaveJoint(openProposal: OpenJointProposal): GitWrites {
  const { ref, commit, base, workspace, records, present, excludes, observed } = openProposal
  if (present.size === 0 || records.length < 2) return NO_WRITES
  const away = listAwayRecords(openProposal).map(({ path, record }) => ({
    path,
    record: alignRecord(record, setExcludes(record, excludes)),
  }))
  const [like] = away
  if (like === undefined) return { ...NO_WRITES, updates: [{ ref, from: commit, to: null }] }
  const all = away.map(({ record }) => record)
  const { message, signOff } = applyHouseStyle(
    observed,
    createMessageSubject(observed, like.record, workspace, all),
  )
  const retained = new Map(away.map(({ path, record }) => [path, record]))
  const changes = records.map(({ path }) => {
    const record = retained.get(path)
    return {
      path,
      content: record === undefined ? null : new TextEncoder().encode(formatInertDocument(record)),
    }
  })
  return createJointWrites(
    { ref, from: commit },
    {
      parents: [base],
      base: commit,
      changes,
      message,
      signOff,
      at: computeUnixSeconds(observed.cluster.observedAt),
    },
  )
}

function createMessageSubject(
  { unit, git }: Observation,
  record: DriftRecord,
  workspace: string,
  records: readonly DriftRecord[],
): MessageSubject {
  return {
    record,
    slug: unit.slug,
    packageName: unit.packageName,
    sourceRevision: git.publishedName,
    joint: { workspace, records },
  }
}

function createJointWrites(
  { ref, from }: Omit<PlannedUpdate, 'to'>,
  commit: Omit<PlannedCommit, 'name'>,
): GitWrites {
  const name = `joint ${ref}`
  return {
    ...NO_WRITES,
    commits: [{ ...commit, name }],
    updates: [{ ref, from, to: { commit: name } }],
  }
}
