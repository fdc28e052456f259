/**
 * Merged decisions that git does not have any more: somebody moved the tag of the revision, or a later commit put an adopted field back. A Porch
 * that did not read the repository does both when it publishes an older draft: it replaces the whole folder of the package.
 */
import { type Json, jsonEquals } from '@backporch/kyaml/json'
import type { Note } from '@backporch/kyaml/note'
import { describeResourceId, resourceKey } from '@backporch/kyaml/resource'
import { given } from '@backporch/kyaml/text'
import { showChange } from '../../record/build-report.ts'
import type { Change } from '../../record/documents/change.ts'
import { type ClosedEpisode, closedEpisodeSchema } from '../../record/documents/closed-episode.ts'
import type { Observation, UndoneDecision } from '../observation/observation.ts'
import { allChanges } from './commands/pick-changes.ts'

export interface UndoneAdoption {
  readonly episode: ClosedEpisode
  /** As they were adopted: git has again what it had before. */
  readonly changes: readonly Change[]
}

/** Of the drift that is live now. A field that was decided about once more is not undone. */
export function undoneAdoptions({ verdicts, key, git }: Observation): readonly UndoneAdoption[] {
  const merged = git.ledger.closed.filter(({ status }) => status.outcome === 'Merged')
  if (!merged.some(({ spec }) => spec.changes.some(({ resolution }) => resolution === 'Adopt')))
    return []
  const shown = allChanges(verdicts, key).map((change) =>
    showChange({ ...change, resolution: 'Restore' }, key),
  )
  const now = new Map(shown.map((change) => [locationOf(change), change]))
  const latest = new Map(
    merged.flatMap((episode) =>
      episode.spec.changes.map((change) => [locationOf(change), episode]),
    ),
  )
  return merged.flatMap((episode) => {
    const changes = episode.spec.changes.filter((change) => {
      const location = locationOf(change)
      const current = now.get(location)
      const isAdopted =
        change.resolution === 'Adopt' &&
        change.path !== undefined &&
        latest.get(location) === episode
      return (
        isAdopted &&
        current !== undefined &&
        jsonEquals(current.git as Json | undefined, change.git as Json | undefined)
      )
    })
    return changes.length === 0 ? [] : [{ episode, changes }]
  })
}

function locationOf({ ref, path }: Change): string {
  return `${resourceKey(ref)}#${path ?? ''}`
}

/** The closed episodes with what was found of them; only those that changed. */
export function amendedEpisodes({ git }: Observation): readonly ClosedEpisode[] {
  return git.ledger.closed.flatMap((episode) => {
    const { status, metadata } = episode
    const commit = status.commit ?? git.decidedCommits.get(metadata.name)
    // Merged with the commit of somebody else on its branch, and published by Porch after that.
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
      ? { undone: { how: undone.how, commit: undone.commit, by: undone.by } }
      : {}
    // In the order of the schema, in which the ledger is read back.
    return [
      {
        ...episode,
        status: closedEpisodeSchema.shape.status.parse({
          ...status,
          ...given({ commit, revision }),
          ...found,
        }),
      },
    ]
  })
}

/** A tag that moved may undo the adoption with it, which says more. */
function isNew({ how, commit }: UndoneDecision, { undone }: ClosedEpisode['status']): boolean {
  return (
    undone === undefined ||
    (undone.commit !== commit && undone.how !== 'AdoptionUndone') ||
    (undone.how === 'TagMoved' && how === 'AdoptionUndone')
  )
}

/** Each is reported once. */
export function undoneNotes(observed: Observation): readonly Note[] {
  const { git, unit } = observed
  return git.undone.flatMap((undone): Note[] => {
    const episode = git.ledger.closed.find(({ metadata }) => metadata.name === undone.episode)
    if (episode === undefined || !isNew(undone, episode.status)) return []
    const { revision } = episode.status
    const by = `${undone.commit === '' ? 'a later commit' : undone.commit.slice(0, 7)}${undone.by === '' ? '' : ` by ${undone.by.replace(/ <.*/, '')}`}`
    const [first] = undoneAdoptions(observed).find((one) => one.episode === episode)?.changes ?? []
    const text =
      undone.how === 'AdoptionUndone' && first !== undefined
        ? `AdoptionUndone: drift-${undone.episode}${revision === undefined ? '' : ` (${revision})`} adopted ${first.path} of ${describeResourceId(first.ref)}, and ${by} took it out of git again`
        : `the tag ${unit.packageName}/${revision}, which published drift-${undone.episode}, was moved to ${by}`
    return [{ cause: 'decision', subject: '', text }]
  })
}
