/**
 * Finds adoptions that were undone: somebody moved the revision's tag, or a later commit reverted
 * an adopted field. A Porch that did not read the repository does both when it publishes an older
 * draft: it replaces the whole package folder.
 */
import { isJsonEqual, type Json } from '@backporch/kyaml/json'
import type { Note } from '@backporch/kyaml/note'
import { describeResourceId, getResourceKey } from '@backporch/kyaml/resource'
import { omitUndefined } from '@backporch/kyaml/text'
import { showChange } from '../../record/build-report.ts'
import type { Change } from '../../record/documents/change.ts'
import { type ClosedEpisode, closedEpisodeSchema } from '../../record/documents/closed-episode.ts'
import type { Observation, UndoneDecision } from '../observation/observation.ts'
import { listAllChanges } from './commands/pick-changes.ts'

export interface UndoneAdoption {
  readonly episode: ClosedEpisode
  readonly changes: readonly Change[]
}

/** For present drift. A field with a later decision is not undone. */
export function listUndoneAdoptions({
  verdicts,
  key,
  git,
}: Observation): readonly UndoneAdoption[] {
  const merged = git.ledger.closed.filter(({ status }) => status.outcome === 'Merged')
  if (!merged.some(({ spec }) => spec.changes.some(({ resolution }) => resolution === 'Adopt')))
    return []
  const shown = listAllChanges(verdicts, key).map((change) =>
    showChange({ ...change, resolution: 'Restore' }, key),
  )
  const now = new Map(shown.map((change) => [formatLocation(change), change]))
  const latest = new Map(
    merged.flatMap((episode) =>
      episode.spec.changes.map((change) => [formatLocation(change), episode]),
    ),
  )
  return merged.flatMap((episode) => {
    const changes = episode.spec.changes.filter((change) => {
      const location = formatLocation(change)
      const current = now.get(location)
      const isAdopted =
        change.resolution === 'Adopt' &&
        change.path !== undefined &&
        latest.get(location) === episode
      return (
        isAdopted &&
        current !== undefined &&
        isJsonEqual(current.git as Json | undefined, change.git as Json | undefined)
      )
    })
    return changes.length === 0 ? [] : [{ episode, changes }]
  })
}

function formatLocation({ ref, path }: Change): string {
  return `${getResourceKey(ref)}#${path ?? ''}`
}

export function amendEpisodes({ git }: Observation): readonly ClosedEpisode[] {
  return git.ledger.closed.flatMap((episode) => {
    const { status, metadata } = episode
    const commit = status.commit ?? git.decidedCommits.get(metadata.name)
    // Published by Porch after a merge with a foreign commit.
    const published =
      status.outcome === 'Merged'
        ? git.published.find(({ workspace }) => workspace === `drift-${metadata.name}`)
        : undefined
    const revision =
      status.revision ?? (published === undefined ? undefined : `v${published.revision}`)
    const undone = git.undone.find((one) => one.episode === metadata.name)
    const isNews = undone !== undefined && isNew(undone, status)
    if (commit === status.commit && revision === status.revision && !isNews) return []
    const found = isNews
      ? { undone: { how: undone.how, commit: undone.commit ?? '', by: undone.by ?? '' } }
      : {}
    // In schema order, as it is read back.
    return [
      {
        ...episode,
        status: closedEpisodeSchema.shape.status.parse({
          ...status,
          ...omitUndefined({ commit, revision }),
          ...found,
        }),
      },
    ]
  })
}

/** A moved tag may also undo the adoption, and says more. */
function isNew({ how, commit }: UndoneDecision, { undone }: ClosedEpisode['status']): boolean {
  return (
    undone === undefined ||
    (undone.commit !== (commit ?? '') && undone.how !== 'AdoptionUndone') ||
    (undone.how === 'TagMoved' && how === 'AdoptionUndone')
  )
}

export function createUndoneNotes(observed: Observation): readonly Note[] {
  const { git, unit } = observed
  return git.undone.flatMap((undone): Note[] => {
    const episode = git.ledger.closed.find(({ metadata }) => metadata.name === undone.episode)
    if (episode === undefined || !isNew(undone, episode.status)) return []
    const { revision } = episode.status
    const by = `${undone.commit?.slice(0, 7) ?? 'a later commit'}${undone.by === undefined ? '' : ` by ${undone.by.replace(/ <.*/, '')}`}`
    const [first] =
      listUndoneAdoptions(observed).find((one) => one.episode === episode)?.changes ?? []
    const text =
      undone.how === 'AdoptionUndone' && first !== undefined
        ? `AdoptionUndone: drift-${undone.episode}${revision === undefined ? '' : ` (${revision})`} adopted ${first.path} of ${describeResourceId(first.ref)}, and ${by} removed it from git again`
        : `the tag ${unit.packageName}/${revision}, which published drift-${undone.episode}, was moved to ${by}`
    return [{ cause: 'decision', subject: '', text }]
  })
}
