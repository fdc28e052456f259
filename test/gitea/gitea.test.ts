import assert from 'node:assert/strict'
import { createHmac } from 'node:crypto'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { inspect } from 'node:util'
import { waitUntil } from '../waiting/wait-until.ts'
import type { Gitea, GiteaRepository, GiteaUser } from './gitea.ts'
import { giteaSuite } from './gitea-suite.ts'
import { runGit } from './run-git.ts'
import { startWebhookReceiver } from './webhook-receiver.ts'

interface Pull {
  readonly number: number
  readonly state: string
  readonly merged: boolean
  readonly merge_commit_sha: string | null
  readonly head: { readonly sha: string }
}

await giteaSuite('the test Gitea', {}, (gitea) => {
  test('pushes a branch over HTTP with a token, and a clone has it', async () => {
    const { ann, repository } = await world(gitea, { 'apps/web/web.yaml': 'replicas: 3\n' })
    const { plain } = gitea.cloneUrl(ann, ann.name, repository.name)
    await inFolder(async (folder) => {
      await gitea.git(ann, ['clone', '--quiet', plain, 'work'], { directory: folder })
      const work = { directory: join(folder, 'work') }
      assert.equal(
        (await gitea.git(ann, ['rev-parse', 'HEAD'], work)).stdout.trim(),
        repository.head,
      )
      await writeFile(join(folder, 'work', 'apps/web/web.yaml'), 'replicas: 5\n')
      await gitea.git(ann, ['commit', '--quiet', '--all', '--message', 'scaled'], work)
      await gitea.git(ann, ['push', '--quiet', 'origin', 'HEAD:refs/heads/drift/web'], work)
      const pushed = (await gitea.git(ann, ['rev-parse', 'HEAD'], work)).stdout.trim()
      const branch = await gitea.request<{ commit: { id: string } }>(
        ann.token,
        'GET',
        `/repos/${ann.name}/${repository.name}/branches/drift/web`,
      )
      assert.equal(branch.body.commit.id, pushed)
      await gitea.git(ann, ['clone', '--quiet', '--branch', 'drift/web', plain, 'again'], {
        directory: folder,
      })
      assert.equal(
        await readFile(join(folder, 'again', 'apps/web/web.yaml'), 'utf8'),
        'replicas: 5\n',
      )
    })
  })

  test('refuses a push without credentials or with those of an account without rights', async () => {
    const { ann, repository } = await world(gitea, { a: 'b' })
    const bob = await gitea.createUser(gitea.uniqueName('bob'))
    const { plain } = gitea.cloneUrl(ann, ann.name, repository.name)
    await inFolder(async (folder) => {
      await gitea.git(ann, ['clone', '--quiet', plain, 'work'], { directory: folder })
      const push = ['push', plain, 'HEAD:refs/heads/x']
      const directory = join(folder, 'work')
      await assert.rejects(
        runGit(push, undefined, { directory }),
        /could not read Username|Authentication failed/,
      )
      await assert.rejects(gitea.git(bob, push, { directory }), /403|denied|not permitted/i)
      const branches = await gitea.request<readonly { name: string }[]>(
        ann.token,
        'GET',
        `/repos/${ann.name}/${repository.name}/branches`,
      )
      assert.deepEqual(
        branches.body.map(({ name }) => name),
        ['main'],
      )
    })
  })

  test('works with credentials in an address, and never prints them', async () => {
    const { ann, repository } = await world(gitea, { a: 'b' })
    const url = gitea.cloneUrl(ann, ann.name, repository.name)
    for (const printed of [inspect(url, { depth: 9 }), JSON.stringify(url), `${url}`])
      assert.equal(printed.includes(ann.token), false)
    const listed = await runGit(['ls-remote', url.withCredentials(), 'refs/heads/main'], undefined)
    assert.equal(listed.stdout, `${repository.head}\trefs/heads/main\n`)
  })

  for (const [style, parents, onTop] of [
    ['merge', 2, false],
    ['rebase', 1, true],
    ['rebase-merge', 2, false],
    ['squash', 1, false],
    ['fast-forward-only', 1, true],
  ] as const) {
    test(`merges a pull request in the style ${style}`, async () => {
      const { ann, repository } = await world(gitea, { a: '1' })
      const path = `/repos/${ann.name}/${repository.name}`
      const { head } = await commitOn(gitea, ann, repository, 'drift/one', 'b')
      const created = await gitea.request<Pull>(ann.token, 'POST', `${path}/pulls`, {
        head: 'drift/one',
        base: 'main',
        title: 'drift',
      })
      assert.equal(created.status, 201)
      const { number } = created.body
      const merged = await gitea.mergePull(ann, ann.name, repository.name, number, {
        Do: style,
        head_commit_id: head,
      })
      assert.equal(merged.status, 200)
      const { body } = await gitea.request<Pull>(ann.token, 'GET', `${path}/pulls/${number}`)
      assert.deepEqual([body.state, body.merged], ['closed', true])
      const main = await gitea.request<{ commit: { id: string } }>(
        ann.token,
        'GET',
        `${path}/branches/main`,
      )
      assert.equal(body.merge_commit_sha, main.body.commit.id)
      const commit = await gitea.request<{ parents: readonly unknown[] }>(
        ann.token,
        'GET',
        `${path}/git/commits/${main.body.commit.id}`,
      )
      assert.equal(commit.body.parents.length, parents)
      assert.equal(
        main.body.commit.id === head,
        onTop,
        'whether the commit of the branch is the one on main',
      )
    })
  }

  test('signs a webhook in the headers of Gitea and of GitHub', async () => {
    const { ann, repository } = await world(gitea, { a: '1' })
    const receiver = await startWebhookReceiver()
    try {
      await gitea.createWebhook(ann, ann.name, repository.name, {
        url: receiver.url,
        secret: 'the secret',
      })
      const { head } = await commitOn(gitea, ann, repository, 'drift/one', 'b')
      const delivery = await receiver.first(({ body }) => body.includes('refs/heads/drift/one'))
      const signature = createHmac('sha256', 'the secret').update(delivery.body).digest('hex')
      assert.equal(delivery.headers['x-gitea-signature'], signature)
      assert.equal(delivery.headers['x-hub-signature-256'], `sha256=${signature}`)
      assert.equal(delivery.headers['x-github-event'], 'push')
      assert.equal((JSON.parse(delivery.body.toString()) as { after: string }).after, head)
    } finally {
      await receiver.stop()
    }
  })

  test('sends webhooks to loopback addresses only', async () => {
    const { ann, repository } = await world(gitea, { a: '1' })
    const receiver = await startWebhookReceiver()
    try {
      // 0.0.0.0 leads to this machine and is not of the loopback range: where it is let through, it arrives.
      const refused = receiver.url.replace('127.0.0.1', '0.0.0.0')
      await gitea.createWebhook(ann, ann.name, repository.name, {
        url: refused,
        secret: 's',
        events: ['push'],
      })
      await gitea.createWebhook(ann, ann.name, repository.name, {
        url: receiver.url,
        secret: 's',
        events: ['push'],
      })
      await commitOn(gitea, ann, repository, 'drift/one', 'b')
      await receiver.first(({ body }) => body.includes('refs/heads/drift/one'))
      const text = /webhook can only call allowed HTTP servers.*0\.0\.0\.0/
      await waitUntil(
        'Gitea says that it does not call it',
        async () => text.test(await gitea.log()),
        { describe: () => gitea.log() },
      )
      assert.equal(
        receiver.deliveries.some(({ headers }) => headers.host?.includes('0.0.0.0')),
        false,
      )
    } finally {
      await receiver.stop()
    }
  })

  test('a token can do what its scopes allow until it is revoked', async () => {
    const { ann, repository } = await world(gitea, { a: '1' })
    const path = `/repos/${ann.name}/${repository.name}`
    const reader = await gitea.createToken(ann, ['read:repository'])
    assert.equal((await gitea.request(reader.token, 'GET', path)).status, 200)
    assert.equal(
      (await gitea.request(reader.token, 'PATCH', path, { description: 'x' })).status,
      403,
    )
    await reader.revoke()
    assert.equal((await gitea.request(reader.token, 'GET', path)).status, 401)
  })

  test('creates an administrator, and an empty repository without a branch', async () => {
    const boss = await gitea.createUser(gitea.uniqueName('boss'), { admin: true })
    assert.equal((await gitea.request(boss.token, 'GET', '/admin/users')).status, 200)
    const empty = await gitea.createRepository(boss, 'empty', { private: true })
    assert.equal(empty.head, undefined)
    const { body } = await gitea.request<{ empty: boolean; private: boolean }>(
      boss.token,
      'GET',
      `/repos/${boss.name}/empty`,
    )
    assert.deepEqual([body.empty, body.private], [true, true])
    assert.equal((await gitea.request(undefined, 'GET', `/repos/${boss.name}/empty`)).status, 404)
  })
})

async function world(
  gitea: Gitea,
  files: Record<string, string>,
): Promise<{ ann: GiteaUser; repository: GiteaRepository }> {
  const ann = await gitea.createUser(gitea.uniqueName('ann'))
  return { ann, repository: await gitea.createRepository(ann, 'shop', { files }) }
}

/** One commit that adds `file`, on a new branch from main. */
async function commitOn(
  gitea: Gitea,
  user: GiteaUser,
  repository: GiteaRepository,
  branch: string,
  file: string,
): Promise<{ head: string }> {
  const body = {
    branch: repository.defaultBranch,
    new_branch: branch,
    message: `add ${file}`,
    files: [{ operation: 'create', path: file, content: '' }],
  }
  const path = `/repos/${repository.owner}/${repository.name}/contents`
  const created = await gitea.request<{ commit: { sha: string } }>(user.token, 'POST', path, body)
  assert.equal(created.status, 201)
  return { head: created.body.commit.sha }
}

async function inFolder(body: (folder: string) => Promise<void>): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), 'backporch-git-'))
  try {
    await body(folder)
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}
