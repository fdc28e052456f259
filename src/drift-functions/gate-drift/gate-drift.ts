/**
 * By Backporch's condition in the Kptfile (design §7), and by a report or record if given. Changes
 * nothing, reads no cluster and shows no value.
 */
import { type FunctionResult, getItemFile, type KrmFunction } from '@backporch/kpt/function'
import { convertToOneLine } from '@backporch/kyaml/text'
import { findTextAt, listItemsAt, type YamlMap } from '@backporch/kyaml/yaml'
import { computeActorLimit, formatActorName } from '../../record/actor-name.ts'
import { changeResult } from '../../record/change-result.ts'
import type { Change } from '../../record/documents/change.ts'
import type { DriftRecord } from '../../record/documents/drift-record.ts'
import type { DriftReport } from '../../record/documents/drift-report.ts'
import { type Gate, RISKS, type Risk, readGate } from './read-gate.ts'

const MOST_TOLD = 100

export const gateDrift: KrmFunction = ({ items, config }) => {
  const gate = readGate(config, items)
  const results =
    'minimumRisk' in gate
      ? listResults(gate, items)
      : gate.map((message): FunctionResult => ({ message, severity: 'error' }))
  return {
    items,
    results,
    exitCode: results.some(({ severity }) => severity === 'error') ? 1 : 0,
    stderr: '',
  }
}

type Verdict = 'open' | 'settled' | 'unknown'

function listResults(gate: Gate, items: readonly YamlMap[]): readonly FunctionResult[] {
  const { drift } = gate
  const text = drift === undefined ? 'unknown' : getVerdict(drift)
  const kptfiles = items
    .filter((item) => findTextAt(item, 'kind') === 'Kptfile')
    .map((kptfile) => ({ kptfile, says: getConditionVerdict(kptfile) }))
  const results =
    drift !== undefined && text === 'open' ? createDriftResults(drift, gate.minimumRisk) : []
  // The document knows more than the condition.
  const reported = text === 'open' && drift !== undefined ? getWorkspaceName(drift) : undefined
  const open = kptfiles.filter(
    ({ kptfile, says }) =>
      says === 'open' && (reported === undefined || getConditionWorkspace(kptfile) !== reported),
  )
  results.push(...open.map(({ kptfile }) => createConditionResult(kptfile, gate)))
  const unknownWriter =
    drift === undefined ? kptfiles.every(({ says }) => says === 'unknown') : text === 'unknown'
  if (unknownWriter) results.push(createUnknownResult(drift, gate))
  return results
}

function getVerdict(drift: DriftReport | DriftRecord): Verdict {
  if (drift.kind === 'DriftRecord') return drift.spec.lifecycle === 'Draft' ? 'open' : 'settled'
  const { state, incomplete = [] } = drift.status
  if (state === 'Drifted') return 'open'
  // A server refusal is known; an unread object is not.
  return state === 'Unknown' || incomplete.some((entry) => entry.state !== 'blocked')
    ? 'unknown'
    : 'settled'
}

function findDriftedCondition(kptfile: YamlMap): YamlMap | undefined {
  const all = listItemsAt(kptfile, 'status', 'conditions')
  return all.find(
    (condition): condition is YamlMap =>
      condition.kind === 'map' && findTextAt(condition, 'type') === 'Drifted',
  )
}

function getConditionVerdict(kptfile: YamlMap): Verdict {
  const status = findTextAt(findDriftedCondition(kptfile), 'status')
  if (status === 'True') return 'open'
  return status === 'False' ? 'settled' : 'unknown'
}

/** Undefined if the drift is not recorded. */
function getWorkspaceName(drift: DriftReport | DriftRecord): string | undefined {
  if (drift.kind === 'DriftRecord') return drift.metadata.name
  return drift.status.episode === '' ? undefined : `drift-${drift.status.episode}`
}

function getConditionWorkspace(kptfile: YamlMap): string | undefined {
  return findTextAt(findDriftedCondition(kptfile), 'message') || undefined
}

function createDriftResults(drift: DriftReport | DriftRecord, minimum: Risk): FunctionResult[] {
  const counts = (change: Change): boolean => RISKS.indexOf(change.risk) <= RISKS.indexOf(minimum)
  const grave = drift.spec.changes.filter(counts)
  const below = drift.spec.changes.length - grave.length
  const lesser =
    below === 0
      ? ''
      : `; ${below} of lower risk than ${minimum} ${below === 1 ? 'does' : 'do'} not count`
  const { cluster, package: path } = drift.spec.unit
  const subject = `${convertToOneLine(path, 200) || 'the package'} in ${convertToOneLine(cluster, 100)}`
  if (grave.length === 0 && below > 0)
    return [
      {
        message: `no drift of ${subject} has the risk ${minimum} or a higher one${lesser}`,
        severity: 'info',
      },
    ]
  const more = grave.length > MOST_TOLD ? `, of which ${MOST_TOLD} are listed` : ''
  const count = grave.length === 1 ? '1 change' : `${grave.length} changes`
  const waiting = `${count} of ${subject} without a decision${more}${lesser}`
  // kpt shows the first four lines on the terminal.
  return [
    {
      message: `${waiting}: ${describeNextStep(path || undefined, findDriftBranch(drift))}`,
      severity: 'error',
    },
    ...grave.slice(0, MOST_TOLD).map((change) => changeResult(change, 'error', describe(change))),
  ]
}

function describe({ change, actor, risk, reason }: Change): string {
  const isGuess = actor.confidence === 'last-writer'
  const who =
    actor.confidence === 'none'
      ? 'by an unknown writer'
      : `${isGuess ? 'perhaps ' : ''}by ${convertToOneLine(formatActorName(actor), computeActorLimit(actor, 60))}`
  const when = actor.at === '' || isGuess ? '' : ` at ${convertToOneLine(actor.at, 40)}`
  return `unreviewed drift: ${change} ${who}${when}, risk ${risk} (${convertToOneLine(reason, 40)})`
}

function findDriftBranch(drift: DriftReport | DriftRecord): string | undefined {
  const { package: path } = drift.spec.unit
  if (path === '') return undefined
  if (drift.kind === 'DriftRecord') return `drafts/${path}/${drift.metadata.name}`
  const { branch, episode, lifecycle } = drift.status
  if (branch !== undefined) return branch
  if (episode === '' || lifecycle === '') return undefined
  return `${lifecycle === 'Draft' ? 'drafts' : 'proposed'}/${path}/drift-${episode}`
}

function describeNextStep(path: string | undefined, branch: string | undefined): string {
  const target = path === undefined ? '' : ` ${convertToOneLine(path, 200)}`
  const review = branch === undefined ? '' : `review ${convertToOneLine(branch, 300)}, or `
  return `${review}decide with "backporch restore${target}", "backporch adopt${target}" or "backporch release${target}" (docs/guides/deciding.md)`
}

function createConditionResult(kptfile: YamlMap, { minimumRisk, drift }: Gate): FunctionResult {
  const reason = findTextAt(findDriftedCondition(kptfile), 'reason') || undefined
  const named = [reason, getConditionWorkspace(kptfile)]
    .filter((text) => text !== undefined)
    .map((text) => convertToOneLine(text, 100))
  const risk =
    minimumRisk === 'low' || drift !== undefined
      ? ''
      : ', with a risk that the condition does not state'
  const { path } = getItemFile(kptfile)
  return {
    message: `the package has drift without a decision${risk}${named.length === 0 ? '' : ` (${named.join(', ')})`}: ${describeNextStep(undefined, undefined)}`,
    severity: 'error',
    resourceRef: {
      apiVersion: findTextAt(kptfile, 'apiVersion') ?? '',
      kind: 'Kptfile',
      name: findTextAt(kptfile, 'metadata', 'name') ?? '',
    },
    field: { path: 'status.conditions[type=Drifted]' },
    ...(path === '' ? {} : { file: { path } }),
  }
}

function createUnknownResult(drift: Gate['drift'], { unknown }: Gate): FunctionResult {
  const why =
    drift === undefined
      ? 'no Kptfile has a condition Drifted, and no report is given'
      : 'the report could not observe everything'
  return {
    message: `cannot tell whether there is drift: ${why}`,
    severity: unknown === 'fail' ? 'error' : 'info',
  }
}
