/**
 * By Backporch's condition in the Kptfile (design §7), and by a report or record if given. Changes
 * nothing, reads no cluster and shows no value.
 */
import { type FunctionResult, fileOf, type KrmFunction } from '@backporch/kpt/function'
import { oneLine } from '@backporch/kyaml/text'
import { itemsAt, textAt, type YamlMap } from '@backporch/kyaml/yaml'
import { actorLimit, actorName } from '../../record/actor-name.ts'
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
      ? resultsOf(gate, items)
      : gate.map((message): FunctionResult => ({ message, severity: 'error' }))
  return {
    items,
    results,
    exitCode: results.some(({ severity }) => severity === 'error') ? 1 : 0,
    stderr: '',
  }
}

type Verdict = 'open' | 'settled' | 'unknown'

function resultsOf(gate: Gate, items: readonly YamlMap[]): readonly FunctionResult[] {
  const { drift } = gate
  const text = drift === undefined ? 'unknown' : verdictOf(drift)
  const kptfiles = items
    .filter((item) => textAt(item, 'kind') === 'Kptfile')
    .map((kptfile) => ({ kptfile, says: conditionOf(kptfile) }))
  const results =
    drift !== undefined && text === 'open' ? driftResults(drift, gate.minimumRisk) : []
  // The document knows more than the condition.
  const reported = text === 'open' && drift !== undefined ? workspaceOf(drift) : ''
  const open = kptfiles.filter(
    ({ kptfile, says }) =>
      says === 'open' && (reported === '' || workspaceIn(kptfile) !== reported),
  )
  results.push(...open.map(({ kptfile }) => conditionResult(kptfile, gate)))
  const unknownWriter =
    drift === undefined ? kptfiles.every(({ says }) => says === 'unknown') : text === 'unknown'
  if (unknownWriter) results.push(unknownResult(drift, gate))
  return results
}

function verdictOf(drift: DriftReport | DriftRecord): Verdict {
  if (drift.kind === 'DriftRecord') return drift.spec.lifecycle === 'Draft' ? 'open' : 'settled'
  const { state, incomplete = [] } = drift.status
  if (state === 'Drifted') return 'open'
  // A server refusal is known; an unread object is not.
  return state === 'Unknown' || incomplete.some((entry) => entry.state !== 'blocked')
    ? 'unknown'
    : 'settled'
}

function driftedCondition(kptfile: YamlMap): YamlMap | undefined {
  const all = itemsAt(kptfile, 'status', 'conditions')
  return all.find(
    (condition): condition is YamlMap =>
      condition.kind === 'map' && textAt(condition, 'type') === 'Drifted',
  )
}

function conditionOf(kptfile: YamlMap): Verdict {
  const status = textAt(driftedCondition(kptfile), 'status')
  if (status === 'True') return 'open'
  return status === 'False' ? 'settled' : 'unknown'
}

/** Empty if the drift is not recorded. */
function workspaceOf(drift: DriftReport | DriftRecord): string {
  if (drift.kind === 'DriftRecord') return drift.metadata.name
  return drift.status.episode === '' ? '' : `drift-${drift.status.episode}`
}

function workspaceIn(kptfile: YamlMap): string {
  return textAt(driftedCondition(kptfile), 'message') ?? ''
}

function driftResults(drift: DriftReport | DriftRecord, minimum: Risk): FunctionResult[] {
  const counts = (change: Change): boolean => RISKS.indexOf(change.risk) <= RISKS.indexOf(minimum)
  const grave = drift.spec.changes.filter(counts)
  const below = drift.spec.changes.length - grave.length
  const lesser =
    below === 0
      ? ''
      : `; ${below} of lower risk than ${minimum} ${below === 1 ? 'does' : 'do'} not count`
  const { cluster, package: path } = drift.spec.unit
  const subject = `${oneLine(path, 200) || 'the package'} in ${oneLine(cluster, 100)}`
  if (grave.length === 0 && below > 0)
    return [
      {
        message: `no drift of ${subject} has the risk ${minimum} or a higher one${lesser}`,
        severity: 'info',
      },
    ]
  const more = grave.length > MOST_TOLD ? `, of which ${MOST_TOLD} are listed` : ''
  const count = grave.length === 1 ? '1 change' : `${grave.length} changes`
  const waiting = `${count} of ${subject} that nobody has decided about${more}${lesser}`
  // kpt shows the first four lines on the terminal.
  return [
    { message: `${waiting}: ${whatToDo(path, branchOf(drift))}`, severity: 'error' },
    ...grave.slice(0, MOST_TOLD).map((change) => changeResult(change, 'error', describe(change))),
  ]
}

function describe({ change, actor, risk, reason }: Change): string {
  const perhaps = actor.confidence === 'last-writer' ? 'perhaps ' : ''
  const who =
    actor.confidence === 'none'
      ? 'by an unknown writer'
      : `${perhaps}by ${oneLine(actorName(actor), actorLimit(actor, 60))}`
  const when = actor.at === '' || perhaps !== '' ? '' : ` at ${oneLine(actor.at, 40)}`
  return `unreviewed drift: ${change} ${who}${when}, risk ${risk} (${oneLine(reason, 40)})`
}

function branchOf(drift: DriftReport | DriftRecord): string | undefined {
  const { package: path } = drift.spec.unit
  if (path === '') return undefined
  if (drift.kind === 'DriftRecord') return `drafts/${path}/${drift.metadata.name}`
  const { branch, episode, lifecycle } = drift.status
  if (branch !== undefined) return branch
  if (episode === '' || lifecycle === '') return undefined
  return `${lifecycle === 'Draft' ? 'drafts' : 'proposed'}/${path}/drift-${episode}`
}

function whatToDo(path: string, branch: string | undefined): string {
  const target = path === '' ? '' : ` ${oneLine(path, 200)}`
  const review = branch === undefined ? '' : `review ${oneLine(branch, 300)}, or `
  return `${review}decide with "backporch restore${target}", "backporch adopt${target}" or "backporch release${target}" (docs/guides/deciding.md)`
}

function conditionResult(kptfile: YamlMap, { minimumRisk, drift }: Gate): FunctionResult {
  const reason = textAt(driftedCondition(kptfile), 'reason') ?? ''
  const named = [reason, workspaceIn(kptfile)]
    .filter((text) => text !== '')
    .map((text) => oneLine(text, 100))
  const risk =
    minimumRisk === 'low' || drift !== undefined
      ? ''
      : ', of a risk that the condition does not tell'
  const { path } = fileOf(kptfile)
  return {
    message: `the package has drift that nobody has decided about${risk}${named.length === 0 ? '' : ` (${named.join(', ')})`}: ${whatToDo('', undefined)}`,
    severity: 'error',
    resourceRef: {
      apiVersion: textAt(kptfile, 'apiVersion') ?? '',
      kind: 'Kptfile',
      name: textAt(kptfile, 'metadata', 'name') ?? '',
    },
    field: { path: 'status.conditions[type=Drifted]' },
    ...(path === '' ? {} : { file: { path } }),
  }
}

function unknownResult(drift: Gate['drift'], { unknown }: Gate): FunctionResult {
  const why =
    drift === undefined
      ? 'no Kptfile has a condition Drifted, and no report is given'
      : 'the report could not observe everything'
  return {
    message: `whether there is drift is not known: ${why}`,
    severity: unknown === 'fail' ? 'error' : 'info',
  }
}
