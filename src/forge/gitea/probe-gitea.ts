/**
 * Without using the rights: Gitea checks permissions before its handlers run, so a change of issue
 * 0, which no repository has, gets 403 without the right and 404 with it
 * (docs/facts/gitea-permission-order.md).
 */
import type { Finding } from '@backporch/kyaml/note'
import { findRefusedStatus } from '../adapter/refused-answer.ts'
import {
  checkArchived,
  checkIssues,
  createFailedFinding,
  pushFinding,
} from '../adapter/repository-findings.ts'
import type { GiteaClient } from './gitea-client.ts'

/** @throws Failure BP50xx if the repository is not visible */
export async function probeGitea(
  client: GiteaClient,
  signal: AbortSignal,
): Promise<readonly Finding[]> {
  const { owner, repository } = client.address
  const path = `/repos/${encodeURIComponent(owner)}/${encodeURIComponent(repository)}`
  const facts = parseFacts(
    await client.send({ method: 'GET', path, what: 'read the repository' }, signal),
  )
  const name = `Gitea ${owner}/${repository}`
  const findings: Finding[] = [
    ...checkArchived(name, facts.archived),
    pushFinding(name, facts.push, 'add the account as a collaborator with write access'),
    ...checkIssues(name, facts.issues),
  ]
  if (!facts.pulls) {
    const message = `${name} takes no pull requests, so nothing can be proposed`
    findings.push(
      createFailedFinding(
        'forge',
        'BP5003',
        message,
        'turn pull requests on in the settings of the repository',
      ),
    )
  }
  for (const [scope, below] of [
    ['write:issue', '/issues/0'],
    ['write:repository', '/pulls/0'],
  ] as const) {
    findings.push(
      (await mayChange(client, `${path}${below}`, signal))
        ? { check: 'forge-token', state: 'passed', message: `${name}: the token has ${scope}` }
        : createFailedFinding(
            'forge-permissions',
            'BP5003',
            `${name}: the token, or the account, may not ${scope.replace(':', ' ')}`,
            `give the token the scope ${scope}`,
          ),
    )
  }
  return findings
}

async function mayChange(client: GiteaClient, path: string, signal: AbortSignal): Promise<boolean> {
  try {
    await client.send(
      { method: 'PATCH', path, body: {}, what: 'read the rights of the token' },
      signal,
    )
    return true
  } catch (thrown) {
    const status = findRefusedStatus(thrown)
    if (status === 403) return false
    if (status === 404) return true
    throw thrown
  }
}

function parseFacts(
  answer: unknown,
): Readonly<Record<'archived' | 'push' | 'issues' | 'pulls', boolean>> {
  const of = (value: unknown, key: string): unknown =>
    typeof value === 'object' && value !== null && key in value
      ? (value as Readonly<Record<string, unknown>>)[key]
      : undefined
  return {
    archived: of(answer, 'archived') === true,
    push: of(of(answer, 'permissions'), 'push') === true,
    issues: of(answer, 'has_issues') !== false,
    pulls: of(answer, 'has_pull_requests') !== false,
  }
}
