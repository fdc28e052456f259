import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { nearestNames } from './nearest-name.ts'

describe('nearestNames', () => {
  it('finds the near names, nearest first', () => {
    assert.deepEqual(nearestNames('pipline', ['pipeline', 'info', 'status']), ['pipeline'])
    assert.deepEqual(nearestNames('KptFile', ['Kptfile']), ['Kptfile'])
    assert.deepEqual(nearestNames('imgae', ['image', 'name']), ['image'])
    assert.deepEqual(nearestNames('wbe', ['web', 'api']), ['web'])
    assert.deepEqual(nearestNames('selector', ['selectors', 'selectar', 'exec']), [
      'selectar',
      'selectors',
    ])
  })

  it('finds nothing where nothing is near', () => {
    assert.deepEqual(nearestNames('tag', ['name', 'exec', 'image']), [])
    assert.deepEqual(nearestNames('', ['image']), [])
  })
})
