import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'

test('a word that matches no test file ends the run, even next to matching words', () => {
  const run = fileURLToPath(new URL('../run.ts', import.meta.url))
  const words = ['test/seeds', 'src/no-such-room']
  const { status, stderr } = spawnSync(process.execPath, [run, ...words], { encoding: 'utf8' })
  assert.equal(status, 1)
  assert.match(stderr, /no test file has src\/no-such-room in its path/)
})
