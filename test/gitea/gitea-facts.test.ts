/**
 * What Gitea's API really does, where that is not what GitHub's does, not documented, or not what we believed
 * (docs/facts/gitea-api.md). A new version of Gitea that does otherwise fails here and not in a user's repository.
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { isDeepStrictEqual } from 'node:util'
import { nextSecond } from '../waiting/next-second.ts'
import { waitUntil } from '../waiting/wait-until.ts'
import type { Gitea, GiteaUser } from './gitea.ts'
import { giteaSuite } from './gitea-suite.ts'
import { startWebhookReceiver } from './webhook-receiver.ts'

interface Pull {
  readonly number: number
  readonly title: string
  readonly state: string
  readonly draft: boolean
  readonly mergeable: boolean
  readonly url: string
  readonly html_url: string
  readonly head: { readonly ref: string; readonly sha: string }
  readonly labels: readonly { readonly name: string }[]
  readonly requested_reviewers: readonly { readonly login: string }[]
}

await giteaSuite("Gitea's API", {}, (gitea) => {
  test('rejects a second pull request of the same branches with 409, and one without commits with 422', async () => {
    const { send, commit, open } = await world(gitea)
    await commit('drift/one')
    const first = await open('drift/one')
    const second = await send('POST', '/pulls', { head: 'drift/one', base: 'main', title: 'again' })
    assert.equal(second.status, 409)
    await send('PATCH', `/pulls/${first.number}`, { state: 'closed' })
    assert.equal(
      (await send('POST', '/pulls', { head: 'drift/one', base: 'main', title: 'again' })).status,
      201,
      'a closed one is not in the way',
    )
    assert.equal(
      (await send('POST', '/pulls', { head: 'main', base: 'main', title: 'nothing' })).status,
      422,
    )
    assert.equal(
      (await send('POST', '/pulls', { head: 'drift/none', base: 'main', title: 'nothing' })).status,
      404,
    )
  })

  test('ignores a head filter in lists; base and head in the path find the oldest pull request, closed ones too', async () => {
    const { send, commit, open } = await world(gitea)
    for (const branch of ['drift/one', 'drift/two']) {
      await commit(branch)
      await open(branch)
    }
    const listed = await send<readonly Pull[]>('GET', '/pulls?state=all&head=drift/one')
    assert.deepEqual(listed.body.map(({ head }) => head.ref).sort(), ['drift/one', 'drift/two'])
    assert.equal((await send<Pull>('GET', '/pulls/main/drift/one')).body.number, 1)
    assert.equal((await send<Pull>('GET', '/pulls/main/drift%2Ftwo')).body.number, 2)
    assert.equal((await send('GET', '/pulls/main/drift/none')).status, 404)
    await send('PATCH', '/pulls/1', { state: 'closed' })
    const again = await open('drift/one')
    assert.equal(again.number, 3)
    const found = (await send<Pull>('GET', '/pulls/main/drift/one')).body
    assert.deepEqual(
      [found.number, found.state],
      [1, 'closed'],
      'the open one is hidden by the closed one',
    )
  })

  test('answers an edit of a pull request with 201, and its url is the url of the page', async () => {
    const { send, commit, open } = await world(gitea)
    await commit('drift/one')
    const created = await open('drift/one')
    assert.equal((await send('PATCH', `/pulls/${created.number}`, { title: 'other' })).status, 201)
    assert.equal(created.url, created.html_url)
  })

  test('marks a draft by its title alone, and refuses to merge it', async () => {
    const { send, commit } = await world(gitea)
    await commit('drift/one')
    await commit('drift/two')
    const flag = await send<Pull>('POST', '/pulls', {
      head: 'drift/one',
      base: 'main',
      title: 'one',
      draft: true,
    })
    assert.equal(flag.body.draft, false)
    const title = await send<Pull>('POST', '/pulls', {
      head: 'drift/two',
      base: 'main',
      title: 'WIP: two',
    })
    assert.deepEqual([title.body.draft, title.body.mergeable], [true, false])
    const merge = await send<{ message: string }>('POST', `/pulls/${title.body.number}/merge`, {
      Do: 'merge',
    })
    assert.deepEqual(
      [merge.status, merge.body.message],
      [405, 'Work in progress PRs cannot be merged'],
    )
  })

  test('adds labels to an issue by name, drops unknown names silently, and removes labels by id', async () => {
    const { send, commit, open } = await world(gitea)
    await commit('drift/one')
    const { number } = await open('drift/one')
    const label = await send<{ id: number }>('POST', '/labels', {
      name: 'drift-plan/restore',
      color: '#ff0000',
    })
    const added = await send<readonly { name: string }[]>('POST', `/issues/${number}/labels`, {
      labels: ['drift-plan/restore', 'unknown'],
    })
    assert.deepEqual(
      [added.status, added.body.map(({ name }) => name)],
      [200, ['drift-plan/restore']],
    )
    assert.equal(
      (await send('DELETE', `/issues/${number}/labels/drift-plan%2Frestore`)).status,
      422,
    )
    assert.equal((await send('DELETE', `/issues/${number}/labels/${label.body.id}`)).status, 204)
    assert.equal(
      (await send('PATCH', `/pulls/${number}`, { labels: ['drift-plan/restore'] })).status,
      422,
    )
    const byId = await send<Pull>('PATCH', `/pulls/${number}`, { labels: [label.body.id] })
    assert.deepEqual(
      byId.body.labels.map(({ name }) => name),
      ['drift-plan/restore'],
    )
  })

  test('accepts two labels with the same name', async () => {
    const { send } = await world(gitea)
    const make = () => send<{ id: number }>('POST', '/labels', { name: 'drift', color: '#ff0000' })
    const [one, other] = [await make(), await make()]
    assert.deepEqual([one.status, other.status], [201, 201])
    assert.notEqual(one.body.id, other.body.id)
  })

  test('a writer can edit the comment of another person, who stays its author; updated_at shows it in seconds', async () => {
    const { ann, send, path } = await world(gitea)
    const bob = await gitea.createUser(gitea.uniqueName('bob'))
    const issue = await send<{ number: number }>('POST', '/issues', { title: 'x' })
    interface Comment {
      readonly id: number
      readonly body: string
      readonly user: { readonly login: string }
      readonly created_at: string
      readonly updated_at: string
    }
    const result = await gitea.request<Comment>(
      bob.token,
      'POST',
      `${path}/issues/${issue.body.number}/comments`,
      { body: 'looks good' },
    )
    await nextSecond()
    const edited = await gitea.request<Comment>(
      ann.token,
      'PATCH',
      `${path}/issues/comments/${result.body.id}`,
      { body: '/adopt' },
    )
    assert.deepEqual(
      [edited.status, edited.body.body, edited.body.user.login],
      [200, '/adopt', bob.name],
    )
    assert.notEqual(edited.body.updated_at, edited.body.created_at)
    assert.match(edited.body.updated_at, /T\d\d:\d\d:\d\d(Z|[+-]\d\d:\d\d)$/, 'whole seconds')
  })

  test('serves an OpenAPI description that covers the paths of clients', async () => {
    const answer = await fetch(`${gitea.url}/swagger.v1.json`)
    const description = (await answer.json()) as {
      swagger: string
      paths: Record<string, Record<string, unknown>>
    }
    assert.equal(description.swagger, '2.0')
    assert.ok(description.paths['/repos/{owner}/{repo}/pulls/{index}/merge']?.['post'])
  })

  test('its API reports neither who edited a comment nor its earlier text', async () => {
    const answer = await fetch(`${gitea.url}/swagger.v1.json`)
    const { paths, definitions } = (await answer.json()) as {
      paths: Record<string, unknown>
      definitions: { Comment: { properties: Record<string, unknown> } }
    }
    assert.deepEqual(
      Object.keys(paths).filter(
        (path) => /history|revision/.test(path) && path.includes('/issues'),
      ),
      [],
    )
    assert.deepEqual(Object.keys(definitions.Comment.properties).sort(), [
      ...[
        'assets',
        'body',
        'created_at',
        'html_url',
        'id',
        'issue_url',
        'original_author',
        'original_author_id',
      ],
      ...['pull_request_url', 'updated_at', 'user'],
    ])
  })

  test('answers a merge with 405 during checks and on conflict, and with 409 when the head moved', async () => {
    const { ann, send, commit, open } = await world(gitea)
    const head = await commit('drift/one', 'same', '1')
    await commit('drift/two', 'same', '2')
    const one = await open('drift/one')
    const two = await open('drift/two')
    const wrong = await gitea.mergePull(ann, ann.name, 'shop', one.number, {
      Do: 'merge',
      head_commit_id: '0'.repeat(40),
    })
    assert.equal(wrong.status, 409)
    assert.equal((await send('POST', `/pulls/${one.number}/merge`, { Do: 'unknown' })).status, 422)
    assert.equal(
      (await send('PUT', `/pulls/${one.number}/merge`, { merge_method: 'merge' })).status,
      405,
    )
    assert.equal(
      (
        await gitea.mergePull(ann, ann.name, 'shop', one.number, {
          Do: 'merge',
          head_commit_id: head,
        })
      ).status,
      200,
    )
    // Gitea looks at one after the other: when it is done with this one, it is done with those before it.
    await commit('drift/three')
    const three = await open('drift/three')
    await waitUntil(
      '#3 can be merged',
      async () => (await send<Pull>('GET', `/pulls/${three.number}`)).body.mergeable,
    )
    const conflict = await send<{ message: string }>('POST', `/pulls/${two.number}/merge`, {
      Do: 'merge',
    })
    assert.deepEqual([conflict.status, conflict.body.message], [405, 'Please try again later'])
    assert.equal((await send<Pull>('GET', `/pulls/${two.number}`)).body.mergeable, false)
    const again = await send<{ message: string }>('POST', `/pulls/${one.number}/merge`, {
      Do: 'merge',
    })
    assert.deepEqual([again.status, again.body.message], [405, 'The PR is already merged'])
    assert.equal((await send('PATCH', `/pulls/${one.number}`, { state: 'open' })).status, 412)
  })

  test('answers auto-merge with 201, a repeat with 409 and a cancel with 204, and merges on success', async () => {
    const { ann, send, commit, open } = await world(gitea)
    const head = await commit('drift/one')
    await send('POST', '/branch_protections', {
      rule_name: 'main',
      enable_push: true,
      enable_status_check: true,
      status_check_contexts: ['drift/fresh'],
    })
    const { number } = await open('drift/one')
    const order = { Do: 'merge', merge_when_checks_succeed: true }
    assert.equal(
      (await gitea.mergePull(ann, ann.name, 'shop', number, { Do: 'merge' })).status,
      405,
    )
    assert.equal((await gitea.mergePull(ann, ann.name, 'shop', number, order)).status, 201)
    assert.equal((await send('POST', `/pulls/${number}/merge`, order)).status, 409)
    assert.equal((await send('DELETE', `/pulls/${number}/merge`)).status, 204)
    assert.equal((await send('DELETE', `/pulls/${number}/merge`)).status, 404)
    assert.equal((await gitea.mergePull(ann, ann.name, 'shop', number, order)).status, 201)
    await send('POST', `/statuses/${head}`, { state: 'success', context: 'drift/fresh' })
    await waitUntil(
      'it is merged',
      async () => (await send<Pull>('GET', `/pulls/${number}`)).body.state !== 'open',
    )
    assert.equal((await send('GET', `/pulls/${number}/merge`)).status, 204)
  })

  test('deleting a branch closes its pull request, whose head then is a ref of the request', async () => {
    const { send, commit, open } = await world(gitea)
    const head = await commit('drift/one')
    const { number } = await open('drift/one')
    assert.equal((await send('DELETE', '/branches/drift/one')).status, 204)
    const pull = await waitUntil('it is closed', async () => {
      const { body } = await send<Pull>('GET', `/pulls/${number}`)
      return body.state !== 'open' && body
    })
    assert.deepEqual(
      [pull.state, pull.head.ref, pull.head.sha],
      ['closed', `refs/pull/${number}/head`, head],
    )
  })

  for (const ending of ['closed', 'merged'] as const) {
    test(`the head of a ${ending} pull request follows its branch; the ref of the request keeps what was ${ending}`, async () => {
      const { ann, send, commit, open } = await world(gitea)
      const head = await commit('drift/one')
      const { number } = await open('drift/one')
      if (ending === 'closed') await send('PATCH', `/pulls/${number}`, { state: 'closed' })
      else
        assert.equal(
          (await gitea.mergePull(ann, ann.name, 'shop', number, { Do: 'squash' })).status,
          200,
        )
      const more = {
        branch: 'drift/one',
        message: 'more',
        files: [{ operation: 'create', path: 'more', content: '' }],
      }
      const next = (await send<{ commit: { sha: string } }>('POST', '/contents', more)).body.commit
        .sha
      assert.notEqual(next, head)
      const at = async (): Promise<unknown> => {
        const { head: observed } = (await send<Pull>('GET', `/pulls/${number}`)).body
        const refs = await send<readonly { ref: string; object: { sha: string } }[]>(
          'GET',
          `/git/refs/pull/${number}/head`,
        )
        return [observed.ref, observed.sha, refs.body.map(({ ref, object }) => [ref, object.sha])]
      }
      const becomes = (expected: unknown): Promise<true> =>
        waitUntil(
          `it is ${JSON.stringify(expected)}`,
          async () => isDeepStrictEqual(await at(), expected),
          {
            describe: async () => JSON.stringify(await at()),
          },
        )
      const ref = [[`refs/pull/${number}/head`, head]]
      await becomes(['drift/one', next, ref])
      // Pushes are worked on in their order: this one is after that of the branch.
      await commit('drift/two', 'two')
      const two = await open('drift/two')
      await waitUntil(
        '#2 can be merged',
        async () => (await send<Pull>('GET', `/pulls/${two.number}`)).body.mergeable,
      )
      await becomes(['drift/one', next, ref])
      assert.equal((await send('DELETE', '/branches/drift/one')).status, 204)
      await becomes([`refs/pull/${number}/head`, head, ref])
    })
  }

  test('accepts any state of a commit status, whatever is documented', async () => {
    const { send, commit } = await world(gitea)
    const head = await commit('drift/one')
    const { status, body } = await send<{ status: string }>('POST', `/statuses/${head}`, {
      state: 'unknown',
      context: 'drift/fresh',
    })
    assert.deepEqual([status, body.status], [201, 'unknown'])
  })

  test("reports one's own permission, and that of others to an admin; strangers can read a public repository", async () => {
    const { ann, send, path } = await world(gitea)
    const bob = await gitea.createUser(gitea.uniqueName('bob'))
    const requested = async (token: string, name: string): Promise<unknown> => {
      const answer = await gitea.request<{ permission?: string }>(
        token,
        'GET',
        `${path}/collaborators/${name}/permission`,
      )
      return answer.body.permission ?? answer.status
    }
    assert.equal(await requested(ann.token, bob.name), 'read')
    assert.equal(await requested(ann.token, ann.name), 'owner')
    assert.equal(await requested(ann.token, 'nobody-of-this-name'), 404)
    assert.equal(await requested(bob.token, ann.name), 403)
    await send('PUT', `/collaborators/${bob.name}`, { permission: 'write' })
    assert.equal(await requested(bob.token, bob.name), 'write')
  })

  test('requests reviewers of CODEOWNERS itself, and answers a repeated request with an empty list', async () => {
    const bob = await gitea.createUser(gitea.uniqueName('bob'))
    const { send, commit, open } = await world(gitea, { CODEOWNERS: `.* @${bob.name}\n` })
    await send('PUT', `/collaborators/${bob.name}`, { permission: 'write' })
    await commit('drift/one')
    const { number } = await open('drift/one')
    const { body } = await send<Pull>('GET', `/pulls/${number}`)
    assert.deepEqual(
      body.requested_reviewers.map(({ login }) => login),
      [bob.name],
    )
    const again = await send('POST', `/pulls/${number}/requested_reviewers`, {
      reviewers: [bob.name],
    })
    assert.deepEqual([again.status, again.body], [201, []])
  })

  test('sends no ETag, and counts pages in headers', async () => {
    const { send } = await world(gitea)
    const { headers } = await send('GET', '/pulls?state=all&limit=1')
    assert.deepEqual(
      [headers['etag'], headers['last-modified'], headers['x-total-count']],
      [undefined, undefined, '0'],
    )
  })

  test('answers writes to an archived repository with 423, a renamed one with 301, and a hidden one with 404', async () => {
    const { ann, send, path } = await world(gitea)
    await send('PATCH', '', { archived: true })
    assert.equal((await send('POST', '/issues', { title: 'x' })).status, 423)
    assert.equal(
      (await send('POST', '/labels', { name: 'x', color: '#ff0000' })).status,
      201,
      'but a label can be made',
    )
    await send('PATCH', '', { archived: false, private: true })
    assert.equal((await gitea.request(undefined, 'GET', path)).status, 404)
    await send('PATCH', '', { name: 'renamed' })
    const moved = await send('GET', '/pulls?state=all')
    assert.equal(moved.status, 301)
    assert.match(moved.headers['location'] ?? '', new RegExp(`/repos/${ann.name}/renamed/pulls`))
  })

  test('accepts a body of 5 MB, and silently cuts a title to 255 bytes', async () => {
    const { send } = await world(gitea)
    const long = await send<{ body: string }>('POST', '/issues', {
      title: 'long',
      body: 'x'.repeat(5_000_000),
    })
    assert.deepEqual([long.status, long.body.body.length], [201, 5_000_000])
    const title = await send<Pull>('POST', '/issues', { title: 't'.repeat(300), body: '' })
    assert.deepEqual([title.status, title.body.title], [201, `${'t'.repeat(252)}…`])
  })

  test('renders alerts and checkboxes', async () => {
    const body = { Text: '> [!WARNING]\n> careful\n\n- [ ] adopt\n', Mode: 'gfm' }
    const { body: page } = await gitea.request<string>(gitea.admin.token, 'POST', '/markdown', body)
    assert.match(page, /attention-warning/)
    assert.match(page, /type="checkbox"/)
  })

  test('names a pull request comment differently in two headers, and sends synchronized on a push', async () => {
    const { ann, send, commit, open } = await world(gitea)
    const receiver = await startWebhookReceiver()
    try {
      const events = ['pull_request', 'pull_request_comment', 'pull_request_sync']
      await gitea.createWebhook(ann, ann.name, 'shop', { url: receiver.url, secret: 's', events })
      await commit('drift/one')
      const { number } = await open('drift/one')
      await send('POST', `/issues/${number}/comments`, { body: '/adopt' })
      const comment = await receiver.first(
        ({ headers }) => headers['x-gitea-event'] === 'issue_comment',
      )
      assert.equal(comment.headers['x-gitea-event-type'], 'pull_request_comment')
      const more = {
        branch: 'drift/one',
        message: 'more',
        files: [{ operation: 'create', path: 'more', content: '' }],
      }
      await send('POST', '/contents', more)
      const sync = await receiver.first(
        ({ headers }) => headers['x-gitea-event-type'] === 'pull_request_sync',
      )
      assert.equal((JSON.parse(sync.body.toString()) as { action: string }).action, 'synchronized')
    } finally {
      await receiver.stop()
    }
  })
})

/** A user with one repository, `shop`, and short ways to use it. */
async function world(gitea: Gitea, files: Readonly<Record<string, string>> = { a: '1' }) {
  const ann: GiteaUser = await gitea.createUser(gitea.uniqueName('ann'))
  const { owner, name } = await gitea.createRepository(ann, 'shop', { files })
  const path = `/repos/${owner}/${name}`
  const send = <Body = unknown>(method: string, below: string, body?: unknown) =>
    gitea.request<Body>(ann.token, method, `${path}${below}`, body)
  return {
    ann,
    path,
    send,
    /** A commit on a new branch from main; its hash. */
    commit: async (branch: string, file = 'file', content = ''): Promise<string> => {
      const change = {
        operation: 'create',
        path: file,
        content: Buffer.from(content).toString('base64'),
      }
      const created = await send<{ commit: { sha: string } }>('POST', '/contents', {
        branch: 'main',
        new_branch: branch,
        message: `on ${branch}`,
        files: [change],
      })
      assert.equal(created.status, 201)
      return created.body.commit.sha
    },
    open: async (branch: string): Promise<Pull> => {
      const result = await send<Pull>('POST', '/pulls', {
        head: branch,
        base: 'main',
        title: branch,
      })
      assert.equal(result.status, 201)
      return result.body
    },
  }
}
