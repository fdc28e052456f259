/**
 * SARIF 2.1.0 (docs.oasis-open.org/sarif) as GitHub reads it ("SARIF support for code scanning"),
 * with fingerprints that survive moved lines.
 */
import { createHash } from 'node:crypto'
import { convertToOneLine } from '@backporch/kyaml/text'
import type { Risk } from '../../drift/compare/drift.ts'
import { RISK_RULES } from '../../drift/risk/risk.ts'
import { formatActorName } from '../../record/actor-name.ts'
import type { Change } from '../../record/documents/change.ts'
import type { Incomplete } from '../../record/documents/drift-report.ts'
import type { DriftReportList } from '../../record/documents/drift-report-list.ts'
import { formatSides } from '../../record/format-value.ts'
import { formatRollback } from '../../record/rolled-back.ts'
import { formatStuckLines } from '../../record/stuck-lines.ts'
import { getUnitName } from '../../record/unit-name.ts'
import {
  formatObjectName,
  getChangeSource,
  listRankedChanges,
  type RankedChange,
} from '../print/ranked-changes.ts'
import { formatPackageLabel } from '../session/ledger-session.ts'

const LEVELS = { critical: 'error', high: 'error', medium: 'warning', low: 'note' } as const
/** GitHub reads CodeQL's words for rules without a score. */
const PROBLEM_SEVERITIES = {
  critical: 'error',
  high: 'error',
  medium: 'warning',
  low: 'recommendation',
} as const
/** Mid-range of GitHub's critical (over 9.0), high (7.0 to 8.9), medium and low. */
const SCORES = { critical: '9.5', high: '8.0', medium: '5.5', low: '2.0' } as const
/** A replica count is not a vulnerability. */
const SECURITY = /^(SEC|SUP|NET)-/
/** GitHub rejects a file with more results in one run. */
const RESULT_LIMIT = 25_000

interface Rule {
  readonly code: string
  readonly risk: Risk
  readonly why: string
}

export function buildSarifLog(
  list: DriftReportList,
  version: string,
  numbers?: ReadonlyMap<Change, number>,
): object {
  const ranked = listRankedChanges(list, numbers)
  const rules = listRules(ranked)
  const locations = new Map(rules.map(({ code }, index) => [code, index]))
  const cut = ranked.length - RESULT_LIMIT
  const notes = [
    ...list.incomplete.map((entry) => buildNotObserved(entry, list)),
    ...formatStuckLines(list.items).map(buildNotification),
    ...(cut > 0 ? [buildNotification(`${cut} changes of the least risk are left out`)] : []),
  ]
  return {
    $schema:
      'https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json',
    version: '2.1.0',
    runs: [
      {
        tool: {
          driver: { name: 'Backporch', semanticVersion: version, rules: rules.map(describeRule) },
        },
        automationDetails: { id: getCategory(list) },
        originalUriBaseIds: {
          '%SRCROOT%': { description: { text: 'The root of the repository.' } },
        },
        columnKind: 'utf16CodeUnits',
        // Notifications name unobserved objects.
        invocations: [
          {
            executionSuccessful: list.incomplete.every(({ state }) => state !== undefined),
            ...(notes.length === 0 ? {} : { toolExecutionNotifications: notes }),
          },
        ],
        results: ranked.slice(0, RESULT_LIMIT).map((entry) => buildResult(entry, locations)),
      },
    ],
  }
}

/** All rules, so that each keeps its index, and codes of other versions. */
function listRules(ranked: readonly RankedChange[]): Rule[] {
  const known = new Set(RISK_RULES.map(({ code }) => code))
  const others = new Map(
    ranked
      .filter(({ change }) => !known.has(change.reason))
      .map(({ change }) => [change.reason, change.risk]),
  )
  return [
    ...RISK_RULES,
    ...[...others].map(([code, risk]) => ({
      code,
      risk,
      why: 'a rule of another version of backporch',
    })),
  ]
}

function describeRule({ code, risk, why }: Rule): object {
  const text = `Drift: ${why}.`
  const next = [
    'backporch restore, adopt or release proposes what to do about it;',
    `backporch explain PACKAGE says why a change is what it is, and backporch explain ${code} what the code means.`,
  ].join(' ')
  return {
    id: convertToOneLine(code, 60),
    shortDescription: { text },
    fullDescription: { text: `The cluster does not run what git says: ${why}. Risk: ${risk}.` },
    help: { text: `${text} ${next}` },
    defaultConfiguration: { level: LEVELS[risk] },
    properties: {
      tags: SECURITY.test(code) ? ['drift', 'security'] : ['drift'],
      precision: 'very-high',
      'problem.severity': PROBLEM_SEVERITIES[risk],
      ...(SECURITY.test(code) ? { 'security-severity': SCORES[risk] } : {}),
    },
  }
}

function buildResult(entry: RankedChange, locations: ReadonlyMap<string, number>): object {
  const { change, report } = entry
  const { unit } = report.spec
  const { path, line } = getChangeSource(entry)
  const { group, kind, namespace, name } = change.ref
  return {
    ruleId: convertToOneLine(change.reason, 60),
    ruleIndex: locations.get(change.reason) ?? -1,
    level: LEVELS[change.risk],
    message: { text: escapeMessageText(describeChange(entry)) },
    locations: [
      {
        physicalLocation: {
          artifactLocation: { uri: encodeUriPath(path), uriBaseId: '%SRCROOT%' },
          region: { startLine: line },
        },
        logicalLocations: [
          {
            fullyQualifiedName: convertToOneLine(
              `${group}/${kind}/${namespace}/${name} ${change.path ?? ''}`.trim(),
              400,
            ),
            kind: 'object',
          },
        ],
      },
    ],
    // GitHub uses the first fingerprint. One change in two clusters is two alerts.
    partialFingerprints: {
      primaryLocationLineHash: `${hash(`${unit.cluster}\0${unit.package}\0${change.fingerprint}`)}:1`,
      'backporch/v1': change.fingerprint,
    },
    properties: {
      cluster: convertToOneLine(unit.cluster),
      package: convertToOneLine(getUnitName(unit), 300),
      risk: change.risk,
      change: change.change,
      actor: convertToOneLine(change.actor.manager),
      ...(change.actor.user === undefined ? {} : { user: convertToOneLine(change.actor.user) }),
    },
  }
}

function describeChange({ change, report, number }: RankedChange): string {
  const { actor } = change
  const { git, live } = formatSides(change, 120)
  const what =
    change.path === undefined ? `is ${change.change}` : `${change.path}: ${git} → ${live}`
  const who =
    actor.confidence === 'none'
      ? 'an unknown writer'
      : `${formatActorName(actor)} (${actor.class.replace('-', ' ')})`
  const rollback = formatRollback(change)
  return `${formatObjectName(change.ref)} ${what}, by ${who}${actor.at === '' ? '' : ` ${actor.at}`}${rollback === undefined ? '' : `, ${rollback}`}. Change ${number} of ${getUnitName(report.spec.unit)} in ${report.spec.unit.cluster}.`
}

function escapeMessageText(text: string): string {
  return convertToOneLine(text, 1_000)
    .replaceAll('](', '] (')
    .replace(/\{(?=\d+\})/g, '{ ')
}

function encodeUriPath(path: string): string {
  return path.split('/').map(encodeURIComponent).join('/')
}

function buildNotObserved(
  { package: path, ref, code, why }: Incomplete,
  { items }: DriftReportList,
): object {
  const where = [
    ...(path === undefined ? [] : [formatPackageLabel(path, items)]),
    ...(ref === undefined ? [] : [formatObjectName(ref)]),
  ].join(' ')
  return buildNotification(`${code} ${where}: ${why}`)
}

function buildNotification(text: string): object {
  return { level: 'warning', message: { text: escapeMessageText(text) } }
}

/**
 * GitHub takes the text before the last slash as the category. Uploads of one category replace each
 * other.
 */
function getCategory({ items }: DriftReportList): string {
  const clusters = new Set(items.map(({ spec }) => spec.unit.cluster))
  const [only] = clusters
  return clusters.size === 1 && only !== undefined
    ? `backporch/${convertToOneLine(only, 200)}/`
    : 'backporch/'
}

function hash(text: string): string {
  return createHash('sha256').update(text).digest('hex').slice(0, 16)
}
