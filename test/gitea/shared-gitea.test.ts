import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { after, before, test } from 'node:test'
import { promisify } from 'node:util'
import { giteaStartSuite } from './gitea-suite.ts'
import { SHARED_GITEA, sharedGitea } from './shared-gitea.ts'
import { type RunGitea, startGiteaForRun } from './start-for-run.ts'

const run = promisify(execFile)
const user = `import { sharedGitea } from ${JSON.stringify(new URL('shared-gitea.ts', import.meta.url).href)}
  const gitea = await sharedGitea()
  const ann = await gitea.createUser(gitea.uniqueName('ann'))
  await gitea.stop()
  console.log(JSON.stringify({ url: gitea.url, name: ann.name }))
`

await giteaStartSuite('sharedGitea', () => {
  let forRun: RunGitea
  let environment: Record<string, string | undefined>
  before(async () => {
    const started = await startGiteaForRun()
    assert.ok(started.state === 'ready')
    forRun = started
    environment = { ...process.env, ...started.environment }
  })
  after(() => forRun.stop())

  test('several processes share the one Gitea of their run, and none stops it', async () => {
    const options = { env: environment }
    const answers = await Promise.all(
      [1, 2].map(() =>
        run(process.execPath, ['--no-warnings', '--input-type=module', '--eval', user], options),
      ),
    )
    const observed = answers.map(
      ({ stdout }) => JSON.parse(stdout) as { url: string; name: string },
    )
    for (const { url, name } of observed) {
      assert.equal(url, forRun.gitea.url)
      assert.equal(
        (await forRun.gitea.request(forRun.gitea.admin.token, 'GET', `/users/${name}`)).status,
        200,
      )
    }
    assert.equal(new Set(observed.map(({ name }) => name)).size, 2)
  })

  test('a missing Gitea that the run announced is an error, and starts no other one', async () => {
    const gone = { ...environment, [SHARED_GITEA]: '/nowhere/gitea.json' }
    await assert.rejects(
      sharedGitea({ environment: gone }),
      /\/nowhere\/gitea\.json, which cannot be read/,
    )
  })
})
