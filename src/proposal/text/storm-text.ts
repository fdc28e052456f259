import type { ForgeDialect } from '@backporch/forge/hosted-forge'
import { formatMarkdownCell, formatMarkdownLink } from '@backporch/kyaml/markdown'
import { convertToOneLine } from '@backporch/kyaml/text'
import { commitText } from '../../record/commit-text.ts'
import type { Change } from '../../record/documents/change.ts'
import {
  count,
  findFirstFitting,
  formatBox,
  formatClusterCell,
  formatPlainTime,
  formatRiskWord,
  formatTableOfRows,
  time,
} from './words.ts'

export interface StormSubject {
  /** Packages per cluster, since `since`. */
  readonly units: number
  readonly clusters: number
  /** RFC 3339 UTC. */
  readonly since: string
  /** Packages per hour. */
  readonly threshold: number
  /** For a storm of objects: limit as a count, and as percent of a cluster. */
  readonly objects?: {
    readonly count: number
    readonly stormObjects: number
    readonly stormShare: number
  }
  readonly writers: readonly { readonly manager: string; readonly units: number }[]
  /** `url` is empty if there is no page. */
  readonly worst: readonly {
    readonly cluster: string
    readonly packageName: string
    readonly changes: number
    readonly risk: Change['risk']
    readonly url: string
  }[]
  readonly dialect: ForgeDialect
  readonly version: string
}

export interface IssueText {
  readonly title: string
  readonly body: string
  readonly labels: readonly string[]
}

const SHOWN = 30

export function formatStormText(subject: StormSubject): IssueText {
  const { units, since, dialect } = subject
  const [first] = subject.writers
  const by =
    first === undefined
      ? ''
      : `, ${formatPercent(first.units, units)} by ${convertToOneLine(commitText(first.manager), 30)}`
  return {
    title: convertToOneLine(
      `Drift storm: ${describeStormExtent(subject)} since ${formatPlainTime(since) ?? convertToOneLine(commitText(since), 20)}${by}`,
      100,
    ),
    body:
      findFirstFitting(
        [SHOWN, 10, 0],
        (rows) => formatStormBody(subject, rows),
        dialect.bodyLimit,
      ) ??
      `**Drift storm: ${count(units, 'package')}.** No pull requests are opened during a storm.\n`,
    labels: ['drift', 'drift-state/storm'],
  }
}

function formatPercent(part: number, whole: number): string {
  return `${whole === 0 ? 0 : Math.min(100, Math.floor((part * 100) / whole))} %`
}

function describeStormExtent({ units, objects }: StormSubject): string {
  return `${objects === undefined ? '' : `${count(objects.count, 'object')} of `}${count(units, 'package')}`
}

function formatStormBody(subject: StormSubject, rows: number): string {
  const { units, clusters, since, threshold, objects, writers, worst, dialect, version } = subject
  const most =
    objects === undefined
      ? `more than ${threshold}`
      : `more than ${count(objects.stormObjects, 'object')} and more than ${objects.stormShare} % of all objects of a cluster`
  const below =
    objects === undefined
      ? `below ${threshold} new packages in an hour`
      : 'when fewer objects begin to differ in an hour'
  const shown = worst.slice(0, rows)
  const lines = [
    ...formatBox(dialect, 'caution', [
      `**${describeStormExtent(subject)} in ${count(clusters, 'cluster')} began to differ from git since ${time(since)}.** That is ${most} in an hour, so one cause is likely.`,
      `**No pull requests are opened ${objects === undefined ? '' : 'for them '}during a storm**, except for critical drift. Nothing is written to any cluster, and the drift of each package is recorded.`,
    ]),
    '**What to do**',
    '',
    '1. Check the writer with the most packages below. It is probably the cause: for example an upgraded controller or a syncer that was switched off.',
    '2. If it should not write, stop it. Packages that match git again leave this list.',
    '3. If it should write, add an ignore rule for it to the policy (`.drift/default.policy`), with a reason.',
    `4. Otherwise wait: ${below}, this issue is closed and pull requests are opened within the usual limits.`,
    '',
    ...formatTableOfRows(writers.slice(0, 10), {
      'Changed by ¹': ({ manager }) => formatMarkdownCell(manager, 60),
      Packages: ({ units: own }) => String(own),
      Share: ({ units: own }) => formatPercent(own, units),
    }),
    ...(shown.length === 0
      ? []
      : [
          `The ${shown.length} packages with the highest risk, of ${count(units, 'package')}:`,
          '',
          ...formatTableOfRows(shown, {
            Package: ({ packageName, url }) =>
              formatMarkdownLink(formatMarkdownCell(packageName), url),
            Cluster: ({ cluster }) => formatClusterCell(cluster),
            Changes: ({ changes }) => String(changes),
            Risk: ({ risk }) => formatRiskWord(risk),
          }),
        ]),
    `<sub>¹ The field manager: a name that the client chose. · backporch ${formatMarkdownCell(version, 30)}</sub>`,
    '<!-- backporch:v1 storm -->',
  ]
  return `${lines.join('\n')}\n`
}
