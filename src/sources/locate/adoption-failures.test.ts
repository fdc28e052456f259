import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Failure, type FailureCode } from '@backporch/kyaml/failure'
import { driftOf } from '../../../test/fakes/drift-samples.ts'
import type { ResolvedChange } from '../edits/resolution-edits.ts'
import {
  createNotLocatedFailure,
  createSharedObstacle,
  createTrialRefusal,
  findOnlyTrial,
  listChangeProblems,
} from './adoption-failures.ts'

const ID = { group: '', kind: 'ConfigMap', namespace: 'shop', name: 'web' }

function change(via?: string): ResolvedChange {
  const location = { path: 'apps/web/config.yaml', document: 0, item: undefined, line: 1 }
  const desired = { id: ID, apiVersion: 'v1', object: { data: { color: 'blue' } }, location }
  return {
    desired,
    resolution: 'Adopt',
    via,
    drift: driftOf('data.color', { id: ID, change: 'modified', git: 'blue', live: 'red' }),
  }
}

function failure(code: FailureCode, why: string): Failure {
  return new Failure({ code, what: 'cannot adopt', why, remedy: 'choose restore' })
}

test('the problem of a change is its rejection, and several locations are not a problem', () => {
  const failures = new Map([
    ['first', failure('BP2001', 'no location')],
    ['second', failure('BP2014', 'two locations')],
  ])
  const changes = [change('first'), change('second'), change('third')]
  const choose = ({ via = '' }: ResolvedChange): void => {
    const found = failures.get(via)
    if (found !== undefined) throw found
  }
  assert.deepEqual(
    listChangeProblems(changes, () => choose),
    ['no location', undefined, undefined],
  )
})

test('a failure of the package is the problem of every change, and another exception is rethrown', () => {
  const changes = [change(), change()]
  const fails = (thrown: unknown) => () => {
    throw thrown
  }
  assert.deepEqual(listChangeProblems(changes, fails(failure('BP1207', 'not stable'))), [
    'cannot adopt: not stable',
    'cannot adopt: not stable',
  ])
  assert.throws(() => listChangeProblems(changes, fails(new TypeError('x'))), TypeError)
  assert.throws(() => listChangeProblems(changes, () => fails(new TypeError('x'))), TypeError)
})

const trial = (via: string, what: string) => ({ candidate: { via, what, edits: [] } })
const TWO = [trial('manifest', 'the manifest'), trial('setter:color', 'the setter color')]

test('takes a single location, and one of several by its name', () => {
  assert.equal(findOnlyTrial(change(), []), undefined)
  assert.equal(findOnlyTrial(change('other'), TWO.slice(0, 1)), TWO[0])
  assert.equal(findOnlyTrial(change('setter:color'), TWO), TWO[1])
})

test('rejects several locations with their names, also when they share one name', () => {
  const why = (via: string | undefined, trials: typeof TWO): string => {
    try {
      findOnlyTrial(change(via), trials)
    } catch (thrown) {
      assert.ok(thrown instanceof Failure && thrown.code === 'BP2014')
      return thrown.why
    }
    return ''
  }
  assert.match(
    why(undefined, TWO),
    /^2 places give .* the manifest as "manifest", the setter color as "setter:color"$/,
  )
  assert.match(why('nope', TWO), /^no place of that name gives the live value; these do: /)
  assert.match(
    why('manifest', [...TWO, trial('manifest', 'the other manifest')]),
    /^3 places give /,
  )
})

test('a rejection without another reason names the function that writes the field last', () => {
  const why = (writer?: string) =>
    createTrialRefusal(change(), { dirty: [], obstacles: [], writer }).why
  assert.equal(why(), 'no authored place was found whose edit gives the live value')
  assert.equal(
    why('apps/web/Kptfile:7 (mutator 1, apply-replacements)'),
    'no authored place was found whose edit gives the live value: the last function that writes it is apps/web/Kptfile:7 (mutator 1, apply-replacements)',
  )
})

test('a rejection without its own location has that of the object in git', () => {
  const where = 'apps/web/config.yaml:1'
  const obstacle = {
    where: undefined,
    why: 'the package does not render',
    remedy: 'choose restore',
  }
  assert.equal(createTrialRefusal(change(), { dirty: [], obstacles: [obstacle] }).where, where)
  assert.equal(
    createTrialRefusal(change(), { dirty: [], obstacles: [{ ...obstacle, where: 'Kptfile:7' }] })
      .where,
    'Kptfile:7',
  )
  const { why, remedy } = obstacle
  assert.equal(createNotLocatedFailure(change(), { why, remedy }).where, where)
  const unit = { name: 'apps/test', moved: [] }
  assert.equal(
    createSharedObstacle(change(), { what: 'the manifest' }, unit, 'choose restore').where,
    where,
  )
})
