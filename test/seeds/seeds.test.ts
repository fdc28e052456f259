import assert from 'node:assert/strict'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import * as fc from './fast-check.ts'
import { ROOT, type Seed, seedsOf } from './seeds.ts'

const FILE = join(ROOT, 'src/kyaml/text/a.test.ts')
const NOT_ABOVE_99 = fc.property(fc.nat(1_000), (number) => number < 100)

function withoutSeed(t: TestContext): void {
  const before = process.env['BACKPORCH_SEED']
  delete process.env['BACKPORCH_SEED']
  t.after(() => {
    if (before === undefined) delete process.env['BACKPORCH_SEED']
    else process.env['BACKPORCH_SEED'] = before
  })
}

test('a file has the base seed and its failed seeds; BACKPORCH_SEED replaces all', (t) => {
  withoutSeed(t)
  const failed = [{ seed: 5, path: '3:1' }, { seed: 6 }]
  const committed = {
    base: 1,
    failed: { 'src/kyaml/text/a.test.ts': failed, 'src/kyaml/text/b.test.ts': [{ seed: 7 }] },
  }
  assert.deepEqual(seedsOf(FILE, committed), [{ seed: 1 }, ...failed])
  assert.deepEqual(seedsOf(join(ROOT, 'src/kyaml/text/c.test.ts'), committed), [{ seed: 1 }])
  process.env['BACKPORCH_SEED'] = '-9'
  assert.deepEqual(seedsOf(FILE, committed), [{ seed: -9 }])
  process.env['BACKPORCH_SEED'] = 'a'
  assert.throws(() => seedsOf(FILE, committed), /BACKPORCH_SEED is no whole number: a/)
})

test('a property runs with each seed, and repeats a failed one as often as it took to fail', async () => {
  const seeds: readonly Seed[] = [{ seed: 1 }, { seed: 2, path: '4:0:1' }]
  for (const isAsync of [false, true]) {
    const drawn: number[] = []
    const keep = (number: number): void => void drawn.push(number)
    const property = isAsync
      ? fc.asyncProperty(fc.nat(), async (number) => keep(number))
      : fc.property(fc.nat(), keep)
    await fc.assertWith({ file: FILE, seeds }, property as fc.IRawProperty<unknown>, {
      numRuns: 10,
    })
    const wanted = [
      ...fc.sample(fc.nat(), { seed: 1, numRuns: 10 }),
      ...fc.sample(fc.nat(), { seed: 2, numRuns: 5 }),
    ]
    assert.deepEqual(drawn, wanted)
  }
})

test('a failure prints the seed, the path and the command to repeat it, and they find it again', () => {
  const found = failureOf([{ seed: 3 }])
  const [, seed, path] = /\{ seed: (\d+), path: "([\d:]+)"/.exec(found) ?? []
  assert.equal(seed, '3')
  assert.match(found, /^repeat it: BACKPORCH_SEED=3 node --test src\/kyaml\/text\/a\.test\.ts$/m)
  assert.equal(failureOf([{ seed: 3, path: path ?? '' }]), found)
})

test('a property uses the seeds of its own file', () => {
  assert.throws(
    () => fc.assert(NOT_ABOVE_99),
    /^repeat it: BACKPORCH_SEED=-?\d+ node --test test\/seeds\/seeds\.test\.ts$/m,
  )
})

function failureOf(seeds: readonly Seed[]): string {
  try {
    fc.assertWith({ file: FILE, seeds }, NOT_ABOVE_99, {})
  } catch (thrown) {
    return (thrown as Error).message
  }
  return assert.fail('it holds')
}
