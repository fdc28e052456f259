import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { findNearestNames } from './nearest-name.ts'

describe('findNearestNames', () => {
  it('finds the near names, nearest first', () => {
    assert.deepEqual(findNearestNames('pipline', ['pipeline', 'info', 'status']), ['pipeline'])
    assert.deepEqual(findNearestNames('KptFile', ['Kptfile']), ['Kptfile'])
    assert.deepEqual(findNearestNames('imgae', ['image', 'name']), ['image'])
    assert.deepEqual(findNearestNames('wbe', ['web', 'api']), ['web'])
    assert.deepEqual(findNearestNames('selector', ['selectors', 'selectar', 'exec']), [
      'selectar',
      'selectors',
    ])
  })

  it('finds nothing when no name is near', () => {
    assert.deepEqual(findNearestNames('tag', ['name', 'exec', 'image']), [])
    assert.deepEqual(findNearestNames('', ['image']), [])
  })
})
