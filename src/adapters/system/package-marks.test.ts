import assert from 'node:assert/strict'
import { chmodSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { temporaryFolder } from '../../../test/contract/git-remotes.ts'
import { PackageMarkFile } from './package-marks.ts'

const ONCE = { count: 1, isRefused: false }
const NEVER = { count: 0, isRefused: false }

/** A process of its own: it ends by itself only where that is said. */
function start(path: string, version = '1.0.0'): PackageMarkFile {
  return new PackageMarkFile(path, version)
}

test('a package during which two processes in a row died is skipped once, then tried again', async () => {
  const path = join(temporaryFolder(), 'packages', 'marks.json')
  const first = start(path)
  await first.begin(['heavy', 'web'])
  const second = start(path)
  assert.deepEqual([second.getEndings('heavy'), second.getEndings('web')], [ONCE, ONCE])
  await second.begin(['web'])
  await second.end(['web'])
  assert.deepEqual(second.getEndings('web'), NEVER)
  await second.begin(['heavy'])
  const third = start(path)
  assert.deepEqual(
    [third.getEndings('heavy'), third.getEndings('web')],
    [{ count: 2, isRefused: true }, NEVER],
  )
  await third.begin(['web'])
  await third.end(['web'])
  const fourth = start(path)
  assert.deepEqual(fourth.getEndings('heavy'), { count: 2, isRefused: false })
  await fourth.begin(['heavy'])
  assert.deepEqual(start(path).getEndings('heavy'), { count: 3, isRefused: true })
})

test('a surviving process clears its marks, and a new version, content or damaged file resets them', async () => {
  const path = join(temporaryFolder(), 'marks.json')
  const first = start(path)
  await first.begin(['heavy'])
  await first.end(['heavy'])
  assert.deepEqual(start(path).getEndings('heavy'), NEVER)
  await start(path).begin(['heavy'])
  assert.deepEqual(start(path, '1.0.1').getEndings('heavy'), NEVER)
  await start(path).begin(['heavy'])
  writeFileSync(path, '{')
  assert.deepEqual(start(path).getEndings('heavy'), NEVER)
})

test('marks of a known package are not written again', async () => {
  const path = join(temporaryFolder(), 'marks.json')
  const marks = start(path)
  await marks.begin(['web'])
  await marks.end(['web'])
  const [before, { ino }] = [readFileSync(path, 'utf8'), statSync(path)]
  await marks.begin(['web'])
  await marks.end(['web'])
  assert.deepEqual([readFileSync(path, 'utf8'), statSync(path).ino], [before, ino])
})

test('without a disk nothing is marked, and nothing fails', async () => {
  const folder = temporaryFolder()
  writeFileSync(join(folder, 'file'), '')
  chmodSync(join(folder, 'file'), 0o400)
  const marks = start(join(folder, 'file', 'marks.json'))
  await marks.begin(['web'])
  await marks.end(['web'])
  assert.deepEqual(marks.getEndings('web'), NEVER)
})
