import { parseFieldPath } from '@backporch/kyaml/field'
import { isJsonArray, isJsonObject, type Json } from '@backporch/kyaml/json'
import { getResourceKey } from '@backporch/kyaml/resource'
import type { Change } from '../../record/documents/change.ts'
import type { ClosedEpisode } from '../../record/documents/closed-episode.ts'
import type { DriftRecord } from '../../record/documents/drift-record.ts'
import type { DriftReport } from '../../record/documents/drift-report.ts'
import type { TreeProblem } from '../../record/read-tree.ts'

type ChangesSpec = DriftReport['spec'] | DriftRecord['spec'] | ClosedEpisode['spec']

const HIDDEN = /^hmac-sha256:[0-9a-f]{16} \([0-9]+ bytes\)$|^redacted \(not read\)$/
const WHOLE = new Set<Change['change']>(['missing', 'unexpected'])

export function checkChanges({
  changes,
  fingerprint,
  observed,
  unit,
}: ChangesSpec): readonly TreeProblem[] {
  const problems: TreeProblem[] = []
  const locations = new Set<string>()
  for (const [index, change] of changes.entries()) {
    const at = `spec.changes[${index}]`
    problems.push(
      ...checkChange(change).map(({ path, message }) => ({ path: `${at}.${path}`, message })),
    )
    const location = `${getResourceKey(change.ref)}#${change.path ?? ''}`
    if (locations.has(location))
      problems.push({ path: at, message: 'another change has the same object and path' })
    locations.add(location)
  }
  if (!/^(sha256:[0-9a-f]{64})?$/.test(fingerprint))
    problems.push({
      path: 'spec.fingerprint',
      message: 'wanted sha256: and 64 hex digits, or nothing',
    })
  if (!isTime(observed.at)) problems.push({ path: 'spec.observed.at', message: TIME })
  if (
    unit.package.split('/').some((segment) => segment === '..' || segment === '.') ||
    unit.package.startsWith('/')
  )
    problems.push({
      path: 'spec.unit.package',
      message: 'wanted a path from the root of the repository',
    })
  return problems
}

export const TIME = 'wanted a time as 2026-11-21T09:30:00Z'

export function isTime(text: string): boolean {
  return (
    /^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}(\.[0-9]{1,9})?Z$/.test(text) &&
    !Number.isNaN(Date.parse(text))
  )
}

function checkChange(change: Change): TreeProblem[] {
  const problems: TreeProblem[] = []
  const wrong = (path: string, message: string): void => void problems.push({ path, message })
  const whole = WHOLE.has(change.change)
  if (whole && change.path !== undefined)
    wrong('path', `a change of the kind ${change.change} applies to the whole object`)
  if (!whole) {
    const read = parseFieldPath(change.path ?? '')
    if ('problem' in read) wrong('path', 'wanted a keyed field path')
  }
  if (change.git !== undefined && (whole || change.change === 'added'))
    wrong('git', `with ${change.change} git has no value`)
  if (change.live !== undefined && (whole || change.change === 'removed'))
    wrong('live', `with ${change.change} the cluster has no value`)
  if (change.live === undefined && (change.change === 'modified' || change.change === 'added'))
    wrong('live', 'the live value is missing')
  const hidden = [change.git, change.live].some(isHidden)
  if (hidden !== (change.redacted === true))
    wrong(
      'redacted',
      hidden ? 'a value is hidden, so it has to be true' : 'it is true, and no value is hidden',
    )
  if (holdsSecretObject(change.git) || holdsSecretObject(change.live))
    wrong('live', 'it contains a Secret in plain text')
  if (!/^[0-9a-f]{16}$/.test(change.fingerprint)) wrong('fingerprint', 'wanted 16 hex digits')
  return problems
}

function isHidden(value: Json | undefined): boolean {
  return typeof value === 'string' && HIDDEN.test(value)
}

function holdsSecretObject(value: Json | undefined): boolean {
  if (isJsonArray(value)) return value.some(holdsSecretObject)
  if (!isJsonObject(value)) return false
  if (
    value['kind'] === 'Secret' &&
    (isJsonObject(value['data']) || isJsonObject(value['stringData']))
  )
    return true
  return Object.values(value).some(holdsSecretObject)
}
