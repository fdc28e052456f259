import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { loadInstallationKey } from './installation-key.ts'

test('a key is new only in the process that created its file', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'backporch-key-'))
  try {
    const load = async (path: string, value?: string) => {
      const { created, key } = await loadInstallationKey({ value, path: join(folder, path) })
      return [created, key.isNew]
    }
    assert.deepEqual(await load('made/key'), [true, true])
    // The next cluster of the same step.
    assert.deepEqual(await load('made/key'), [false, true])
    writeFileSync(join(folder, 'found'), 'k'.repeat(32))
    assert.deepEqual(await load('found'), [false, false])
    assert.deepEqual(await load('made/key', 'e'.repeat(32)), [false, false])
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
})
