import { tellLeftOut } from '../adapter/left-out.ts'
import { findRefusedStatus } from '../adapter/refused-answer.ts'
import type { WantedProposal } from '../ports/hosted-forge.ts'
import { milestoneSchema, userSchema } from './gitea-answers.ts'
import type { GiteaClient } from './gitea-client.ts'

/** Gitea rejects all reviewers for one. */
export async function askReviewers(
  client: GiteaClient,
  number: number,
  reviewers: readonly string[],
  signal: AbortSignal,
): Promise<void> {
  for (const name of reviewers) {
    const team = name.includes('/') ? name.slice(name.indexOf('/') + 1) : undefined
    const body = team === undefined ? { reviewers: [name] } : { team_reviewers: [team] }
    const path = client.buildPath(`/pulls/${number}/requested_reviewers`)
    try {
      await client.send({ method: 'POST', path, body, what: 'ask for a review' }, signal)
    } catch (thrown) {
      const status = findRefusedStatus(thrown)
      if (status !== 403 && status !== 404 && status !== 422) throw thrown
      tellLeftOut(client, 'reviewers', [name])
    }
  }
}

/** Gitea answers 500 to a name that cannot be assigned. */
export async function applyGiteaFiling(
  client: GiteaClient,
  number: number,
  { assignees = [], milestone }: WantedProposal,
  signal: AbortSignal,
): Promise<void> {
  const path = client.buildPath(`/issues/${number}`)
  if (assignees.length > 0) {
    const requested = { path: client.buildPath('/assignees'), what: 'read who can be assigned' }
    const possible = (await client.get(requested, userSchema.array().nullable(), signal)) ?? []
    const known = new Set(possible.map(({ login }) => login.toLowerCase()))
    const isKnown = (name: string): boolean => known.has(name.toLowerCase())
    tellLeftOut(
      client,
      'assignees',
      assignees.filter((name) => !isKnown(name)),
    )
    const body = { assignees: assignees.filter(isKnown) }
    if (body.assignees.length > 0)
      await client.send({ method: 'PATCH', path, body, what: 'assign the pull request' }, signal)
  }
  if (milestone === undefined) return
  const requested = {
    path: client.buildPath('/milestones'),
    query: { state: 'open' },
    what: 'read the milestones',
  }
  const found = (await client.getAll(requested, milestoneSchema, signal)).find(
    ({ title }) => title === milestone,
  )
  if (found === undefined) return tellLeftOut(client, 'milestone', [milestone])
  await client.send(
    {
      method: 'PATCH',
      path,
      body: { milestone: found.id },
      what: 'give the pull request its milestone',
    },
    signal,
  )
}
