import { convertToFailure } from '@backporch/kyaml/failure'
import type { Note } from '@backporch/kyaml/note'
import { findWorstRisk } from '../../plan/observation/closed-episode.ts'
import type { ClosedEpisode } from '../../record/documents/closed-episode.ts'
import { type DriftRecord, driftRecordSchema } from '../../record/documents/drift-record.ts'
import { isRecordPath, recordFolder } from '../../record/record-paths.ts'
import { getUnitName } from '../../record/unit-name.ts'
import { parseDocument } from '../../record/write-document.ts'
import { readTexts } from '../../sources/commit/commit-files.ts'
import type { CliContext } from '../context/cli-context.ts'
import type { Terminal } from '../context/terminal.ts'
import type { Optional, RepositoryOptions } from '../flags/options.ts'
import {
  computeSinceTime,
  isNotBefore,
  type PackageOptions,
  type SelectionOptions,
} from '../flags/selection-flags.ts'
import { formatSidesText } from '../print/sides-text.ts'
import type { Column } from '../print/table.ts'
import { formatAge } from '../print/time-text.ts'
import type { LedgerReading } from './ledger-session.ts'
import { selectUnits } from './selection.ts'

export interface Decision {
  /** Includes the record's copies, which the ledger does not hold. */
  readonly spec: ClosedEpisode['spec'] | DriftRecord['spec']
  readonly status: ClosedEpisode['status'] | undefined
  /** Undefined for an unpublished decision. */
  readonly commit: string | undefined
}

interface Decisions {
  readonly shown: readonly Decision[]
  readonly all: number
  readonly notes: readonly Note[]
}

type Wanted = RepositoryOptions & PackageOptions & Optional<SelectionOptions>

export async function readDecisions(
  reading: LedgerReading,
  packages: readonly string[],
  options: Wanted,
  cli: Pick<CliContext, 'clock' | 'signal'>,
): Promise<Decisions> {
  const since =
    options.since === undefined ? undefined : computeSinceTime(options.since, cli.clock.now())
  const { view, ledger } = reading
  const files = view.tree.filter(({ path }) => isRecordPath(path))
  const texts = await readTexts(view.repository, files, cli.signal)
  const notes: Note[] = []
  const records = files.flatMap(({ path }) => {
    try {
      return [parseDocument(texts.get(path) ?? '', driftRecordSchema, path)]
    } catch (thrown) {
      // An edited record, or one of another version, does not hide the others.
      notes.push({
        cause: 'record-not-read',
        subject: path,
        text: `the record cannot be read: ${convertToFailure(thrown).why}`,
      })
      return []
    }
  })
  const published = new Map(
    [...view.refs].flatMap(([ref, commit]) =>
      ref.startsWith('refs/tags/') ? [[ref.slice('refs/tags/'.length), commit] as const] : [],
    ),
  )
  const copies = new Map(
    records.flatMap(({ spec }) =>
      spec.copies === undefined ? [] : [[getDecisionKey(spec), spec.copies] as const],
    ),
  )
  const copiesOf = (spec: Decision['spec']): Pick<DriftRecord['spec'], 'copies'> => {
    const own = copies.get(getDecisionKey(spec))
    return own === undefined ? {} : { copies: own }
  }
  const known = new Set(ledger.closed.map(({ spec }) => getDecisionKey(spec)))
  const decisions: Decision[] = [
    ...ledger.closed.map(({ spec, status }) => ({
      spec: { ...spec, ...copiesOf(spec) },
      status,
      commit: status.commit ?? published.get(`${spec.unit.package}/${status.revision ?? ''}`),
    })),
    ...records
      .filter(({ spec }) => !known.has(getDecisionKey(spec)))
      .map(({ spec }) => ({ spec, status: undefined, commit: undefined })),
  ]
  const recorded = records.map(({ spec }) => spec.unit.package)
  const selection = await selectUnits(
    reading,
    { named: packages, alsoKnown: recorded },
    { ...options, namespace: undefined },
    cli.signal,
  )
  const shown = decisions
    .filter(
      (decision) =>
        selection.takesPackage(decision.spec.unit.package) &&
        selection.takesCluster(decision.spec.unit.cluster) &&
        matches(decision, options) &&
        isNotBefore(getTime(decision), since),
    )
    .sort((left, right) => (getTime(left) < getTime(right) ? 1 : -1))
  return { shown, all: decisions.length, notes }
}

function matches({ spec: { changes } }: Decision, { namespace, risk }: Wanted): boolean {
  if (namespace !== undefined && !changes.some(({ ref }) => ref.namespace === namespace))
    return false
  const worst = findWorstRisk(changes)
  return risk === undefined || (worst !== undefined && risk.includes(worst))
}

function getDecisionKey(spec: Decision['spec']): string {
  return `${recordFolder(spec.unit.cluster, '')}\0${spec.unit.package}\0${spec.episode}`
}

function getTime({ spec, status }: Decision): string {
  return status?.at ?? spec.observed.at
}

export function createDecisionColumns(terminal: Terminal): readonly Column<Decision>[] {
  return [
    { name: 'WHEN', value: (decision) => `${getTime(decision).slice(0, 16).replace('T', ' ')}Z` },
    { name: 'CLUSTER', value: ({ spec }) => spec.unit.cluster },
    { name: 'PACKAGE', value: ({ spec }) => getUnitName(spec.unit) },
    { name: 'CHANGE', value: ({ spec }) => describeChanges(spec.changes, terminal) },
    {
      name: 'BY',
      value: ({ spec }) =>
        [...new Set(spec.changes.map(({ actor }) => actor.user ?? actor.manager))]
          .slice(0, 2)
          .join(', '),
    },
    {
      name: 'RESOLUTION',
      value: ({ spec, status }) =>
        status === undefined || status.outcome === 'Merged'
          ? `${spec.plan.toLowerCase()}${status?.altered === undefined ? '' : ' (not as proposed)'}${status?.undone === undefined ? '' : ' (undone)'}`
          : status.outcome.toLowerCase(),
    },
    { name: 'DECIDED BY', value: ({ status }) => status?.decidedBy.replace(/ <.*/, '') ?? '' },
    {
      name: 'TOOK',
      value: ({ spec, status }) =>
        status === undefined ? '' : formatAge(Date.parse(status.at) - Date.parse(spec.began)),
    },
    {
      name: 'VERIFIED',
      value: ({ status }) =>
        status?.verifiedAt === undefined
          ? ''
          : `${status.verifiedAt.slice(0, 16).replace('T', ' ')}Z`,
    },
    { name: 'COMMIT', value: ({ commit }) => commit?.slice(0, 7) ?? '' },
    {
      name: 'WHY',
      wide: true,
      value: ({ spec, status }) =>
        [spec.message ?? status?.reason, status?.altered, describeUndone(status?.undone)]
          .filter((why) => why !== undefined)
          .join('; '),
    },
  ]
}

function describeUndone(undone: ClosedEpisode['status']['undone']): string | undefined {
  if (undone === undefined) return undefined
  const by = `${undone.commit.slice(0, 7) || 'a later commit'}${undone.by === '' ? '' : ` by ${undone.by.replace(/ <.*/, '')}`}`
  return undone.how === 'TagMoved' ? `its tag was moved to ${by}` : `${by} reverted it in git`
}

function describeChanges(changes: Decision['spec']['changes'], terminal: Terminal): string {
  const [first, ...others] = changes
  if (first === undefined) return ''
  const more = others.length === 0 ? '' : ` (+${others.length})`
  if (first.path === undefined) return `${first.change} ${first.ref.kind}/${first.ref.name}${more}`
  const field = first.path.split('.').at(-1) ?? first.path
  const { git, live } = formatSidesText(first, terminal, 24)
  return `${first.ref.kind}/${first.ref.name} ${field} ${git} ${terminal.getGlyph('arrow')} ${live}${more}`
}
