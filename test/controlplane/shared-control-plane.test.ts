import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { after, before, test } from 'node:test'
import { promisify } from 'node:util'
import { controlPlaneStartSuite } from './control-plane-suite.ts'
import { SHARED_CONTROL_PLANE, sharedControlPlane } from './shared-control-plane.ts'
import { type RunControlPlane, startForRun } from './start-for-run.ts'

const run = promisify(execFile)
const user = `import { sharedControlPlane } from ${JSON.stringify(new URL('shared-control-plane.ts', import.meta.url).href)}
  const plane = await sharedControlPlane({ controllerManager: true, auditLevel: 'Metadata' })
  const as = { user: 'x', groups: ['system:masters'] }
  const namespace = await plane.namespace('shared')
  const { status } = await plane.request('GET', '/api/v1/namespaces/' + namespace, { as })
  if (status !== 200) throw new Error('status ' + status)
  await plane.stop()
  console.log(JSON.stringify({ url: plane.url, namespace }))
`

await controlPlaneStartSuite('sharedControlPlane', () => {
  let forRun: RunControlPlane
  let environment: Record<string, string | undefined>
  before(async () => {
    const started = await startForRun()
    assert.ok(started.state === 'ready')
    forRun = started
    environment = { ...process.env, ...started.environment }
  })
  after(() => forRun.stop())

  test('several processes share the one plane of their run, and none stops it', async () => {
    const options = { env: environment }
    const answers = await Promise.all(
      [1, 2, 3].map(() =>
        run(process.execPath, ['--no-warnings', '--input-type=module', '--eval', user], options),
      ),
    )
    const observed = answers.map(({ stdout }) => JSON.parse(stdout))
    assert.deepEqual(
      observed.map(({ url }) => url),
      Array.from({ length: 3 }, () => forRun.plane.url),
    )
    assert.equal(new Set(observed.map(({ namespace }) => namespace)).size, 3)
    for (const { namespace } of observed) {
      assert.equal(
        (await forRun.plane.request('GET', `/api/v1/namespaces/${namespace}`)).status,
        200,
      )
    }
  })

  test('starts a separate plane for flags that the shared one lacks', async () => {
    const own = await sharedControlPlane({ environment, apiServerFlags: ['--profiling=false'] })
    assert.ok(own.state === 'ready')
    assert.notEqual(own.url, forRun.plane.url)
    await own.stop()
    assert.equal((await forRun.plane.request('GET', '/readyz')).status, 200)
  })

  test('a missing plane that the run announced is an error, and starts no other one', async () => {
    const gone = { ...environment, [SHARED_CONTROL_PLANE]: '/nowhere/control-plane.json' }
    await assert.rejects(
      sharedControlPlane({ environment: gone }),
      /\/nowhere\/control-plane\.json, which cannot be read/,
    )
  })
})
