import type { Finding } from '@backporch/kyaml/note'
import { convertToOneLine } from '@backporch/kyaml/text'
import type { SourceKind } from '../../sources/build/unit-source.ts'
import { DISCOVERIES } from '../../sources/registry.ts'
import type { ClusterSources } from '../repository/sources/discover-sources.ts'
import type { LiveSyncers } from '../repository/sources/read-syncers.ts'

const MOST_NAMED = 5

export function judgeSources(
  live: LiveSyncers,
  sources: Pick<ClusterSources, 'cluster' | 'titles' | 'notes'>,
): readonly Finding[] {
  const check = 'syncers'
  const where = `cluster ${convertToOneLine(sources.cluster)}`
  const findings = DISCOVERIES.flatMap(({ name, kinds }): Finding[] => {
    const unread = live.unread.find((one) => one.name === name)
    if (unread !== undefined) {
      const named = kinds.map(({ kind, group }) => `${kind} (${group})`).join(', ')
      const message = `${where}: ${name}: the account cannot list its resources, so its units are unknown: ${unread.failure.why}`
      return [
        {
          check,
          state: 'warning',
          code: unread.failure.code,
          message,
          fix: `let the account get, list and watch ${named}`,
        },
      ]
    }
    const counts = kinds.flatMap((kind) => formatCount(kind, live))
    const folders = [...sources.titles].flatMap(([folder, title]) =>
      title.startsWith(`${name} `) ? [folder || '.'] : [],
    )
    if (counts.length === 0 && folders.length === 0) return []
    const found = counts.length === 0 ? 'as files of the base branch declare it' : counts.join(', ')
    return [
      { check, state: 'passed', message: `${where}: ${name}: ${found}; ${describeUnits(folders)}` },
    ]
  })
  const notes = sources.notes.filter(
    ({ subject }) => !live.unread.some(({ name }) => name === subject),
  )
  if (findings.length === 0)
    findings.push({
      check,
      state: 'passed',
      message: `${where}: no syncer resource that could name units (${NAMES.join(', ')})`,
    })
  return [
    ...findings,
    ...notes.slice(0, MOST_NAMED).map(
      ({ subject, text }): Finding => ({
        check,
        state: 'skipped',
        message: `${where}: ${subject}: ${text}`,
      }),
    ),
    ...(notes.length > MOST_NAMED
      ? [
          {
            check,
            state: 'skipped' as const,
            message: `${where}: ${notes.length - MOST_NAMED} more resources are not compared, or not as they are`,
          },
        ]
      : []),
  ]
}

const NAMES = DISCOVERIES.map(({ name }) => name)

function formatCount({ group, kind }: SourceKind, { listed }: LiveSyncers): readonly string[] {
  const count = listed.filter(
    (object) => object['kind'] === kind && String(object['apiVersion']).startsWith(`${group}/`),
  ).length
  return count === 0 ? [] : [`${count} ${kind}`]
}

function describeUnits(folders: readonly string[]): string {
  if (folders.length === 0) return 'no unit of this repository and branch'
  const more = folders.length > MOST_NAMED ? ` and ${folders.length - MOST_NAMED} more` : ''
  return `${folders.length} ${folders.length === 1 ? 'unit' : 'units'} of this repository: ${folders.slice(0, MOST_NAMED).join(', ')}${more}`
}
