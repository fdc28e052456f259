import type { Command } from 'commander'
import { readTexts } from '../../reconcile/repository-view.ts'
import { formatValue } from '../../record/format-value.ts'
import { recordFolder } from '../../record/record-paths.ts'
import { API_VERSION, type ClosedEpisode, type DriftRecord, driftRecordSchema } from '../../record/schema.ts'
import { parseDocument } from '../../record/write-document.ts'
import { packageLabel, readLedgerOf } from '../ledger-session.ts'
import { type CommonOptions, withOutputFlags, withRepositoryFlags } from '../options.ts'
import { formatAge } from '../print-diff.ts'
import { printDocument } from '../print-document.ts'
import { type Column, checkedColumns, formatTable } from '../table.ts'
import type { Run, World } from '../world.ts'

export function addHistoryCommand(program: Command, world: World, run: Run): void {
  const command = program
    .command('history')
    .description('what drifted, who decided and what came of it; from git alone')
    .argument('[packages...]', 'paths of packages; all of them otherwise')
    .option('--cluster <name>', 'only this cluster')
    .option('--since <date>', 'only what was decided on or after this day (2026-11-01)')
  withOutputFlags(withRepositoryFlags(command))
  command.action((packages: string[], options: HistoryOptions) => run(() => history(packages, options, world)))
}

interface HistoryOptions extends CommonOptions {
  readonly since?: string
}

/** A decision: from the ledger, or from the record on the base branch where somebody merged without us. */
interface Decision {
  readonly spec: ClosedEpisode['spec'] | DriftRecord['spec']
  readonly status: ClosedEpisode['status'] | undefined
  readonly commit: string
}

async function history(packages: readonly string[], options: HistoryOptions, world: World): Promise<number> {
  const { view, ledger } = await readLedgerOf(world, options)
  const files = view.tree.filter(({ path }) => path.startsWith('.drift/records/') && path.endsWith('.yaml'))
  const texts = await readTexts(view.repository, files, world.signal)
  const records = files.map(({ path }) => parseDocument(texts.get(path) ?? '', driftRecordSchema, path))
  const published = new Map(
    [...view.refs].flatMap(([ref, commit]) => (ref.startsWith('refs/tags/') ? [[ref.slice('refs/tags/'.length), commit] as const] : [])),
  )
  const known = new Set(ledger.closed.map(({ spec }) => keyOf(spec)))
  const decisions: Decision[] = [
    ...ledger.closed.map(({ spec, status }) => ({
      spec,
      status,
      commit: status.revision === undefined ? '' : (published.get(`${spec.unit.package}/${status.revision}`) ?? ''),
    })),
    ...records.filter(({ spec }) => !known.has(keyOf(spec))).map(({ spec }) => ({ spec, status: undefined, commit: '' })),
  ]
  const wanted = packages.map((name) => name.replace(/\/+$/, ''))
  const shown = decisions
    .filter(
      ({ spec, status }) =>
        (wanted.length === 0 || wanted.includes(spec.unit.package)) &&
        (options.cluster === undefined || spec.unit.cluster === options.cluster) &&
        (options.since === undefined || (status?.at ?? spec.observed.at) >= options.since),
    )
    .sort((left, right) => (timeOf(left) < timeOf(right) ? 1 : -1))
  if (options.output === 'json' || options.output === 'yaml') {
    const items = shown.map(({ spec, status, commit }) => ({
      spec,
      ...(status === undefined ? {} : { status }),
      ...(commit === '' ? {} : { commit }),
    }))
    printDocument({ apiVersion: API_VERSION, kind: 'DecisionList', items }, options.output, world)
  } else {
    world.stdout.write(
      formatTable(shown, COLUMNS, {
        headers: options.headers,
        wide: options.output === 'wide',
        columns: checkedColumns(options.columns, COLUMNS),
      }),
    )
    if (shown.length === 0 && options.quiet !== true) world.stderr.write('nothing was decided yet\n')
  }
  return 0
}

function keyOf(spec: Decision['spec']): string {
  return `${recordFolder(spec.unit.cluster, '')}\0${spec.unit.package}\0${spec.episode}`
}

function timeOf({ spec, status }: Decision): string {
  return status?.at ?? spec.observed.at
}

const COLUMNS: readonly Column<Decision>[] = [
  { name: 'WHEN', value: (decision) => `${timeOf(decision).slice(0, 16).replace('T', ' ')}Z` },
  { name: 'CLUSTER', value: ({ spec }) => spec.unit.cluster },
  { name: 'PACKAGE', value: ({ spec }) => packageLabel(spec.unit.package) },
  { name: 'CHANGE', value: ({ spec }) => describeChanges(spec.changes) },
  { name: 'BY', value: ({ spec }) => [...new Set(spec.changes.map(({ actor }) => actor.manager))].slice(0, 2).join(', ') },
  {
    name: 'RESOLUTION',
    value: ({ spec, status }) =>
      status === undefined || status.outcome === 'Merged' ? spec.plan.toLowerCase() : status.outcome.toLowerCase(),
  },
  { name: 'DECIDED BY', value: ({ status }) => status?.decidedBy.replace(/ <.*/, '') ?? '' },
  { name: 'TOOK', value: ({ spec, status }) => (status === undefined ? '' : formatAge(Date.parse(status.at) - Date.parse(spec.began))) },
  {
    name: 'VERIFIED',
    value: ({ status }) => (status?.verifiedAt === undefined ? '' : `${status.verifiedAt.slice(0, 16).replace('T', ' ')}Z`),
  },
  { name: 'COMMIT', value: ({ commit }) => commit.slice(0, 7) },
  { name: 'WHY', wide: true, value: ({ spec, status }) => spec.message ?? status?.reason ?? '' },
]

function describeChanges(changes: Decision['spec']['changes']): string {
  const [first, ...others] = changes
  if (first === undefined) return ''
  const more = others.length === 0 ? '' : ` (+${others.length})`
  if (first.path === undefined) return `${first.change} ${first.ref.kind}/${first.ref.name}${more}`
  const field = first.path.split('.').at(-1) ?? first.path
  return `${first.ref.kind}/${first.ref.name} ${field} ${formatValue(first.git, 24)} → ${formatValue(first.live, 24)}${more}`
}
