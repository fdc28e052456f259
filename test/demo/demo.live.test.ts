import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { controlPlaneStartSuite } from '../controlplane/control-plane-suite.ts'
import { startControlPlane } from '../controlplane/start-control-plane.ts'
import { boundCommand } from '../processes/bound-command.ts'
import { HANGS_AFTER } from '../waiting/wait-until.ts'
import { CANARY } from './hand-edits.ts'
import { formatRecordings, recordDemo } from './record-demo.ts'

const LAUNCHER = fileURLToPath(new URL('../../src/launch.cjs', import.meta.url))
const STORED = readFileSync(new URL('../../src/cli/demo/recordings.json', import.meta.url), 'utf8')

await controlPlaneStartSuite('the demo against a real API server', () => {
  test('the stored recording matches a real server of its version', async (t) => {
    const plane = await startControlPlane()
    assert.ok(plane.state === 'ready')
    t.after(() => plane.stop())
    const { body } = await plane.request<{ gitVersion: string }>('GET', '/version')
    const recorded = /"serverVersion":"([^"]+)"/.exec(STORED)?.[1]
    if (body.gitVersion !== recorded)
      return t.skip(`the recording is of ${recorded}, the server here is ${body.gitVersion}`)
    const now = formatRecordings(await recordDemo(plane))
    assert.ok(now === STORED, 'record it again: node test/demo/record.ts')
  })

  test('the cluster matches git again after the approval', async (t) => {
    const folder = mkdtempSync(join(tmpdir(), 'demo-live-'))
    t.after(() => rmSync(folder, { recursive: true, force: true }))
    const args = [LAUNCHER, 'demo', '--control-plane', '--folder', join(folder, 'demo')]
    // It fails by itself where the story and the server's answers are not the same.
    const { stdout } = await promisify(execFile)(...boundCommand(process.execPath, args), {
      timeout: HANGS_AFTER,
      killSignal: 'SIGKILL',
    })
    assert.match(stdout, /sent \d+ writes? to prod for \d+ approved changes?.*\n.*verified/)
    assert.equal((stdout.match(/^ {2}✓ /gm) ?? []).length, 6)
    const objects = await promisify(execFile)(
      'git',
      ['cat-file', '--batch-all-objects', '--batch'],
      {
        cwd: join(folder, 'demo', 'fleet'),
        maxBuffer: 64 * 1024 * 1024,
      },
    )
    for (const form of [CANARY, Buffer.from(CANARY).toString('base64')]) {
      assert.ok(
        !stdout.includes(form) && !objects.stdout.includes(form),
        "the Secret's value is shown",
      )
    }
  })
})
