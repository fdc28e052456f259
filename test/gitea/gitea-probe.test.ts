/** What `check` says of the real Gitea: rights are told by what it answers, and nothing is changed by asking. */
import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, describe, it, test } from 'node:test'
import { probeForge } from '@backporch/forge/open-forge'
import { probePush } from '@backporch/git-store/probe-push'
import type { JsonObject } from '@backporch/kyaml/json'
import { systemClock } from '../../src/adapters/system/system-clock.ts'
import { sharedGitea } from './shared-gitea.ts'

const gitea = await sharedGitea()
const { signal } = new AbortController()
if (gitea.state === 'unavailable') test('check: Gitea', { skip: gitea.why }, () => {})
else {
  describe('check on Gitea', () => {
    after(() => gitea.stop())

    const prepare = async () => {
      const [owner, other] = await Promise.all(
        ['ann', 'rita'].map((name) => gitea.createUser(gitea.uniqueName(name))),
      )
      assert.ok(owner !== undefined && other !== undefined)
      const { name } = await gitea.createRepository(owner, 'deploy', {
        files: { 'README.md': '# x\n' },
      })
      return {
        owner,
        other,
        name,
        path: `/repos/${owner.name}/${name}`,
        remote: `${gitea.url}/${owner.name}/${name}.git`,
      }
    }
    const ask = async (remote: string, token: string) => {
      const environment = { BACKPORCH_TOKEN: token }
      const options = {
        remote,
        kind: 'gitea' as const,
        environment,
        clock: systemClock,
        version: '0',
        longestWait: 0,
        note: () => undefined,
      }
      const found = await probeForge({ ...options, findToken: async () => undefined }, [], signal)
      return found.map(({ check, state, message }) =>
        `${check} ${state} ${/write[: ]\w+|push/.exec(message)?.[0] ?? ''}`.trim(),
      )
    }

    /** Without the time of its last change, which Gitea writes a moment after the push that made it. */
    const repositoryAt = async ({ token }: { readonly token: string }, path: string) => {
      const { body } = await gitea.request(token, 'GET', path)
      const { updated_at: _, ...repository } = body as JsonObject
      return repository
    }

    it('passes a token with all permissions, and changes nothing', async () => {
      const { owner, remote, path } = await prepare()
      const before = await repositoryAt(owner, path)
      assert.deepEqual(await ask(remote, owner.token), [
        'forge-permissions passed push',
        'forge-token passed write:issue',
        'forge-token passed write:repository',
      ])
      assert.deepEqual(await repositoryAt(owner, path), before)
    })

    it('names each scope that the token lacks', async () => {
      const { owner, remote } = await prepare()
      for (const [scopes, issue, repository] of [
        [['write:repository', 'read:issue'], 'failed', 'passed'],
        [['read:repository', 'write:issue'], 'passed', 'failed'],
      ] as const) {
        const { token } = await gitea.createToken(owner, scopes)
        const found = await ask(remote, token)
        assert.match(found.join('\n'), new RegExp(`${issue} write.issue`))
        assert.match(found.join('\n'), new RegExp(`${repository} write.repository`))
      }
    })

    it('reports an account with read access only', async () => {
      const { other, remote } = await prepare()
      assert.equal((await ask(remote, other.token))[0], 'forge-permissions failed push')
    })

    it('finds what branch protection refuses with a dry-run push, and pushes nothing', async () => {
      const { owner, other, remote, path } = await prepare()
      await gitea.request(owner.token, 'PUT', `${path}/collaborators/${other.name}`, {
        permission: 'write',
      })
      const rule = { rule_name: 'proposed/**', enable_push: false }
      assert.equal(
        (await gitea.request(owner.token, 'POST', `${path}/branch_protections`, rule)).status,
        201,
      )
      const folder = mkdtempSync(join(tmpdir(), 'backporch-probe-'))
      try {
        const refs = [
          'refs/heads/drafts/backporch-check/drift-check',
          'refs/heads/proposed/backporch-check/drift-check',
          'refs/heads/drift-ledger',
          'refs/tags/backporch-check/v0',
        ]
        const answers = await probePush(
          { remote, token: other.token, workingDirectory: folder, environment: process.env },
          'main',
          refs,
          signal,
        )
        assert.deepEqual(
          answers.map(({ answer }) => answer),
          ['let-through', 'refused', 'let-through', 'let-through'],
          JSON.stringify(answers),
        )
        const { body } = await gitea.request<readonly { name: string }[]>(
          owner.token,
          'GET',
          `${path}/branches`,
        )
        assert.deepEqual(
          body.map(({ name }) => name),
          ['main'],
        )
      } finally {
        rmSync(folder, { recursive: true })
      }
    })
  })
}
