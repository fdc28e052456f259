/** Notes of every command: one line for each cause, five at most, all of them with -v. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Failure } from '@backporch/kyaml/failure'
import { NOTE_CAUSES, type Note, type NoteCause } from '@backporch/kyaml/note'
import { runInWorld } from '../../../test/fakes/cli-world.ts'
import { TurnWorld } from '../../../test/fakes/turn-world.ts'
import { driftReportListSchema } from '../../record/documents/drift-report-list.ts'
import type { CliContext } from '../context/cli-context.ts'
import { printFailures } from './print-failures.ts'
import { MOST_LINES, noteLines } from './print-notes.ts'

const SECRET = (name: string): string =>
  `apiVersion: v1\nkind: Secret\nmetadata: {name: ${name}, namespace: shop}\nstringData: {token: hunter2}\n`

function worldOfSecrets(count: number): TurnWorld {
  const world = new TurnWorld()
  const files = Object.fromEntries(
    Array.from({ length: count }, (_, at) => [`apps/web/secret-${at}.yaml`, SECRET(`s${at}`)]),
  )
  world.repository.commitByHand('main', files)
  return world
}

const notes = (stderr: string): string[] =>
  stderr.split('\n').filter((line) => line.startsWith('note: '))

for (const command of [['diff'], ['scan', '--dry-run']]) {
  test(`${command[0]}: forty Secrets in git are one line with the count, and forty with -v`, async () => {
    const world = worldOfSecrets(40)
    const few = notes((await runInWorld(world, command)).stderr)
    assert.equal(few.length, 2)
    assert.match(
      few[0] ?? '',
      /^note: apps\/web\/secret-0\.yaml:1: Secret .*stringData\.token; and 39 more of this kind$/,
    )
    assert.equal(few[1], 'note: 40 notes in all; -v prints each')
    assert.equal(notes((await runInWorld(world, [...command, '-v'])).stderr).length, 40)
    assert.equal(notes((await runInWorld(world, [...command, '-q'])).stderr).length, 0)
  })
}

test('diff -o json has notes as data: cause, count and examples, and all of them with -v', async () => {
  const world = worldOfSecrets(4)
  const read = async (...flags: string[]) =>
    driftReportListSchema.parse(
      JSON.parse((await runInWorld(world, ['diff', '-o', 'json', ...flags])).stdout),
    ).notes
  const [group, ...others] = (await read()) ?? []
  assert.deepEqual(
    [group?.cause, group?.count, group?.examples.length, others],
    ['secret-in-git', 4, 3, []],
  )
  assert.equal(group?.examples[0]?.subject, 'apps/web/secret-0.yaml:1')
  assert.equal((await read('-v'))?.[0]?.examples.length, 4)
})

test('get packages: tags without a version number are two notes, not two per tag', async () => {
  const world = new TurnWorld()
  const head = world.repository.head('main')
  for (let at = 0; at < 30; at += 1)
    world.repository.branches.set(`refs/tags/apps/web/v1.${at}.0`, head)
  const run = await runInWorld(world, ['get', 'packages'])
  const lines = notes(run.stderr)
  assert.equal(lines.length, 3, run.stderr)
  assert.ok(
    lines.some((line) =>
      /^note: the tag is not a number, so Porch lists it as revision -1: refs\/tags\/apps\/web\/v1\.\d+\.0 and 29 more$/.test(
        line,
      ),
    ),
  )
  const list = JSON.parse((await runInWorld(world, ['get', 'packages', '-o', 'json'])).stdout) as {
    notes: { cause: string; count: number }[]
  }
  assert.deepEqual(list.notes.map(({ cause, count }) => [cause, count]).sort(), [
    ['porch-name-not-label', 30],
    ['porch-tag-not-number', 30],
  ])
})

test('at most five note lines are printed, and the last one gives the total', () => {
  const all = (Object.keys(NOTE_CAUSES) as NoteCause[]).flatMap((cause): Note[] => [
    { cause, subject: 'a', text: `of ${cause}` },
    { cause, subject: 'b', text: `of ${cause}` },
  ])
  const few = all.filter(({ cause }) => cause !== 'decision')
  const lines = noteLines(few, {})
  assert.equal(lines.length, MOST_LINES)
  assert.equal(
    lines.at(-1),
    `${few.length} notes in all, with ${few.length / 2 - MOST_LINES + 1} more causes; -v prints each`,
  )
  assert.equal(noteLines(few, { verbose: true }).length, few.length)
})

test('a failure shared by many packages is printed once with its first places, and fully with -v', () => {
  const failures = Array.from(
    { length: 60 },
    (_, at) =>
      new Failure({
        code: 'BP1206',
        what: 'no',
        where: `apps/p${at}/Kptfile:9`,
        why: 'the image is not allowed',
        remedy: 'allow it',
      }),
  )
  const other = new Failure({
    code: 'BP1206',
    what: 'no',
    where: 'apps/x/Kptfile:9',
    why: 'another image is not allowed',
    remedy: 'allow it',
  })
  const printed = (options: { verbose?: true }): string => {
    const texts: string[] = []
    const stderr = { isTTY: false, columns: 80, write: (text: string) => texts.push(text) }
    printFailures([...failures, other], { stderr, env: {} } as unknown as CliContext, options)
    return texts.join('')
  }
  const few = printed({})
  assert.equal(few.match(/^error/gm)?.length, 2)
  assert.match(
    few,
    /where: apps\/p0\/Kptfile:9, apps\/p1\/Kptfile:9, apps\/p2\/Kptfile:9, and 57 more \(-v prints each\)/,
  )
  assert.equal(printed({ verbose: true }).match(/^error/gm)?.length, 61)
})
