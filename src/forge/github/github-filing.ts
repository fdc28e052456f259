import { tellLeftOut } from '../adapter/left-out.ts'
import { findRefusedStatus } from '../adapter/refused-answer.ts'
import type { WantedProposal } from '../ports/hosted-forge.ts'
import type { GitHubClient } from './github-client.ts'

/** GitHub refuses all for one. */
export async function askReviewers(
  client: GitHubClient,
  number: number,
  names: readonly string[],
  signal: AbortSignal,
): Promise<void> {
  if (names.length === 0) return
  const target = await client.getWritableTarget(`ask for a review of #${number}`, signal)
  const request = async (some: readonly string[]): Promise<boolean> => {
    const plain = some.map((name) => name.replace(/^@/, ''))
    const reviewers = plain.filter((name) => !name.includes('/'))
    const team_reviewers = plain
      .filter((name) => name.includes('/'))
      .map((name) => name.slice(name.indexOf('/') + 1))
    const requested = { ...target, pull_number: number, reviewers, team_reviewers }
    try {
      await client.ask(`ask for a review of #${number}`, () =>
        client.octokit.rest.pulls.requestReviewers(requested),
      )
      return true
    } catch (thrown) {
      if (![403, 404, 422].includes(findRefusedStatus(thrown) ?? 0)) throw thrown
      return false
    }
  }
  if (await request(names)) return
  for (const name of names)
    if (names.length === 1 || !(await request([name]))) tellLeftOut(client, 'reviewers', [name])
}

export async function applyGitHubFiling(
  client: GitHubClient,
  number: number,
  { assignees = [], milestone }: WantedProposal,
  signal: AbortSignal,
): Promise<void> {
  if (assignees.length === 0 && milestone === undefined) return
  const { issues } = client.octokit.rest
  const target = await client.getWritableTarget(`assign #${number}`, signal)
  const issue = { ...target, issue_number: number }
  if (assignees.length > 0) {
    const { data } = await client.ask(`assign #${number}`, () =>
      issues.addAssignees({ ...issue, assignees: [...assignees] }),
    )
    const known = new Set(data.assignees?.map(({ login }) => login.toLowerCase()))
    tellLeftOut(
      client,
      'assignees',
      assignees.filter((name) => !known.has(name.toLowerCase())),
    )
  }
  if (milestone === undefined) return
  const pages = (page: number) =>
    issues.listMilestones({ ...target, state: 'open', per_page: 100, page })
  const found = (await client.list('read the milestones', pages)).find(
    ({ title }) => title === milestone,
  )
  if (found === undefined) return tellLeftOut(client, 'milestone', [milestone])
  await client.ask(`give #${number} its milestone`, () =>
    issues.update({ ...issue, milestone: found.number }),
  )
}
