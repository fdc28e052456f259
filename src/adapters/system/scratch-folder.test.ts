import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { expectFailure } from '../../../test/contract/git-remotes.ts'
import { runProgram } from '../functions/run-program.ts'
import { makeScratchFolder } from './scratch-folder.ts'

test('creates a new folder each time, or fails naming the variable to set', async () => {
  const root = mkdtempSync(join(tmpdir(), 'backporch-scratch-'))
  const before = process.env['TMPDIR']
  try {
    process.env['TMPDIR'] = root
    const [one, two] = [await makeScratchFolder('a-'), await makeScratchFolder('a-')]
    assert.notEqual(one, two)
    assert.ok(statSync(one).isDirectory())
    process.env['TMPDIR'] = join(root, 'not-there')
    const failure = await expectFailure(makeScratchFolder('a-'), 'BP4008')
    assert.match(
      `${failure.where} ${failure.why} ${failure.remedy}`,
      /not-there .* ENOENT .* TMPDIR$/,
    )
    const limits = { milliseconds: 1000, outputBytes: 1000 } as unknown as Parameters<
      typeof runProgram
    >[0]['limits']
    const run = {
      program: process.execPath,
      words: ['--version'],
      environment: {},
      limits,
    } as unknown as Parameters<typeof runProgram>[0]
    await expectFailure(runProgram(run, new AbortController().signal), 'BP4008')
  } finally {
    if (before === undefined) delete process.env['TMPDIR']
    else process.env['TMPDIR'] = before
    rmSync(root, { recursive: true })
  }
})
