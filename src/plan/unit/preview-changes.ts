import type { DesiredResource } from '@backporch/kpt/desired-set'
import {
  createFieldStep,
  type FieldPath,
  type FieldSchema,
  findValueAt,
} from '@backporch/kyaml/field'
import type { Json } from '@backporch/kyaml/json'
import { isSecret, type RedactionKey } from '@backporch/kyaml/redaction'
import { getResourceKey, type LiveState } from '@backporch/kyaml/resource'
import { compareText, omitUndefined } from '@backporch/kyaml/text'
import { UNKNOWN_ACTOR } from '../../drift/attribute/actor.ts'
import { compareObjects, type FieldDifference } from '../../drift/compare/compare-resource.ts'
import {
  type ChangeKind,
  type Drift,
  type ObjectVerdict,
  RISKS,
} from '../../drift/compare/drift.ts'
import { isAlreadyApplied } from '../../drift/compare/equal-values.ts'
import { applyVisibility, getPathSchema } from '../../drift/noise/visibility.ts'
import { assessRisk } from '../../drift/risk/risk.ts'
import { overrideRisks } from '../../drift/risk/risk-overrides.ts'
import type { EffectivePolicy } from '../../policy/effective-policy.ts'
import { showChange } from '../../record/build-report.ts'
import type { PreviewChange } from '../../record/documents/preview.ts'

export interface PreviewedObject {
  readonly resource: DesiredResource
  readonly schema: FieldSchema
}

export interface PreviewedUnit {
  readonly before: readonly PreviewedObject[]
  readonly after: readonly PreviewedObject[]
  /** By `getResourceKey`; without an entry unknown. */
  readonly live: ReadonlyMap<string, LiveState>
  /** Objects that the base branch declares and the unit covers: their live values may be shown. */
  readonly covered: ReadonlySet<string>
}

type Rules = Pick<EffectivePolicy, 'visibility' | 'riskOverrides'>

interface Showing {
  readonly rules: Rules
  readonly key: RedactionKey
}

/** Riskiest first. Values of Secrets are never shown, as in drift reports. */
export function previewChanges(
  unit: PreviewedUnit,
  rules: Rules,
  key: RedactionKey,
): readonly PreviewChange[] {
  const [before, after] = [indexByKey(unit.before), indexByKey(unit.after)]
  const changes = [...new Set([...before.keys(), ...after.keys()])].flatMap((name) => {
    const [was, is] = [before.get(name), after.get(name)]
    const any = is ?? was
    if (any === undefined) return []
    const differences = was === undefined || is === undefined ? [WHOLE] : findDifferences(was, is)
    return createChanges(
      { was, is, any, live: unit.live.get(name), covered: unit.covered.has(name) },
      differences,
      { rules, key },
    )
  })
  return changes.toSorted(
    (one, other) =>
      RISKS.indexOf(one.risk) - RISKS.indexOf(other.risk) ||
      compareText(getName(one), getName(other)),
  )
}

function indexByKey(objects: readonly PreviewedObject[]): ReadonlyMap<string, PreviewedObject> {
  return new Map(objects.map((object) => [getResourceKey(object.resource.id), object]))
}

function getName({ ref, path = '' }: PreviewChange): string {
  return `${getResourceKey(ref)} ${path}`
}

interface Sides {
  readonly was: PreviewedObject | undefined
  readonly is: PreviewedObject | undefined
  readonly any: PreviewedObject
  readonly live: LiveState | undefined
  readonly covered: boolean
}

/** `live` of a difference is the base branch, `predicted` the merge. */
const WHOLE: FieldDifference = { path: [], live: undefined, predicted: undefined }

function findDifferences(was: PreviewedObject, is: PreviewedObject): readonly FieldDifference[] {
  const [from, to] = [was.resource.apiVersion, is.resource.apiVersion]
  const version =
    from === to ? [] : [{ path: [createFieldStep('apiVersion')], live: from, predicted: to }]
  return [...version, ...compareObjects(was.resource.object, is.resource.object, is.schema)]
}

function createChanges(
  sides: Sides,
  differences: readonly FieldDifference[],
  showing: Showing,
): readonly PreviewChange[] {
  const shown = applyRules(
    sides,
    differences.map(({ path, live, predicted }) => createDrift(sides, path, [live, predicted])),
    showing.rules,
  )
  return differences.map((difference, index) => {
    const drift = shown[index]
    if (drift === undefined) throw new TypeError('each difference is shown')
    const found = findLive(sides, difference)
    const change = showChange(
      { drift, resolution: 'Restore', desired: sides.any.resource },
      showing.key,
    )
    const whole = change.path === undefined
    const isHidden = change.redacted === true
    return {
      ref: change.ref,
      change:
        sides.was === undefined
          ? 'added'
          : sides.is === undefined
            ? 'removed'
            : KINDS[drift.change],
      ...(whole
        ? {}
        : { path: change.path, ...omitUndefined({ before: change.git, after: change.live }) }),
      ...(isHidden ? { redacted: true } : {}),
      risk: change.risk,
      reason: change.reason,
      ...omitUndefined({ source: change.source }),
      live: found.live,
      ...(found.value === undefined || isHidden
        ? {}
        : omitUndefined({ liveValue: findThirdValue(sides, difference, found.value, showing) })),
    }
  })
}

const KINDS: { readonly [kind in ChangeKind]: PreviewChange['change'] } = {
  modified: 'modified',
  added: 'added',
  removed: 'removed',
  missing: 'removed',
  unexpected: 'added',
}

/** The base branch takes the place of git, so that drift's risk and redaction apply. */
function createDrift(
  { was, is, any }: Sides,
  path: FieldPath,
  [from, to]: readonly [Json | undefined, Json | undefined],
): Drift {
  const { id, apiVersion } = any.resource
  const whole = was === undefined ? 'unexpected' : is === undefined ? 'missing' : undefined
  const change = whole ?? (from === undefined ? 'added' : to === undefined ? 'removed' : 'modified')
  const { risk, code } = assessRisk({ id, change, path, git: from, live: to })
  return {
    ...{ id, apiVersion, uid: undefined, change, path, git: from, live: to, liveUnread: false },
    ...{ actor: UNKNOWN_ACTOR, risk, reason: code, notes: [] },
  }
}

function applyRules(
  { was, is, any }: Sides,
  items: readonly Drift[],
  { visibility, riskOverrides }: Rules,
): readonly Drift[] {
  const { resource, schema } = any
  const hidden = [...(is?.resource.hidden ?? []), ...(was?.resource.hidden ?? [])]
  const verdict: ObjectVerdict = {
    id: resource.id,
    apiVersion: resource.apiVersion,
    desired: { ...resource, hidden },
    ...(was === undefined ? {} : { live: was.resource.object }),
    ...{
      state: 'drifted',
      proof: 'none',
      items,
      setAside: [],
      failure: undefined,
      reapplyFails: undefined,
    },
  }
  return overrideRisks(applyVisibility(verdict, schema, visibility), riskOverrides).items
}

/** Undefined if it or the merge's value is hidden. */
function findThirdValue(
  sides: Sides,
  { path, predicted, live }: FieldDifference,
  value: Json,
  { rules, key }: Showing,
): Json | undefined {
  if (!sides.covered || isSecret(sides.any.resource.id)) return undefined
  const [drift] = applyRules(sides, [createDrift(sides, path, [predicted ?? live, value])], rules)
  const change = drift === undefined ? undefined : showChange({ drift, resolution: 'Restore' }, key)
  return change?.redacted === true ? undefined : change?.live
}

interface FoundLive {
  readonly live: PreviewChange['live']
  readonly value?: Json | undefined
}

function findLive(
  { was, is, any, live, covered }: Sides,
  { path, live: from, predicted: to }: FieldDifference,
): FoundLive {
  if (live === undefined || live.state === 'unreadable') return { live: 'unknown' }
  if (was === undefined && is !== undefined) return { live: findNewLive(is, live) }
  if (!covered) return { live: 'unknown' }
  if (is === undefined) return { live: live.state === 'absent' ? 'after' : 'before' }
  if (live.state === 'absent') return { live: 'other' }
  if (live.metadataOnly) return { live: 'unknown' }
  const value = findValueAt(live.object, path)
  const schema = getPathSchema(any.schema, path)
  const isThere = (wanted: Json | undefined): boolean =>
    wanted === undefined ? value === undefined : isAlreadyApplied(wanted, value, schema)
  return isThere(to)
    ? { live: 'after' }
    : isThere(from)
      ? { live: 'before' }
      : { live: 'other', value }
}

/** Whether it exists, and completely. Shows no value. */
function findNewLive(
  { resource, schema }: PreviewedObject,
  live: LiveState,
): PreviewChange['live'] {
  if (live.state === 'absent') return 'before'
  if (live.state === 'unreadable' || live.metadataOnly) return 'unknown'
  const missing = compareObjects(live.object, resource.object, schema).filter(
    ({ path, live: value, predicted }) =>
      predicted !== undefined && !isAlreadyApplied(predicted, value, getPathSchema(schema, path)),
  )
  return missing.length === 0 ? 'after' : 'other'
}
