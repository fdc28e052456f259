import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { describe, it } from 'node:test'
import type { JsonObject } from '@backporch/kyaml/json'
import { KSTATUS_OBJECTS } from '../../test/corpus/kstatus/objects.ts'
import { computeStatus, createUnknownStatus, NOT_FOUND } from './kstatus.ts'

const AT = new Date('2026-11-20T10:00:00Z')

interface Recorded {
  readonly verdicts: readonly {
    readonly status?: string
    readonly message?: string
    readonly reason?: string
    readonly error?: boolean
  }[]
  readonly of: readonly number[]
}

const recorded = JSON.parse(
  readFileSync(new URL('../../test/corpus/kstatus/verdicts.json', import.meta.url), 'utf8'),
) as Recorded

function object(
  apiVersion: string,
  kind: string,
  more: JsonObject = {},
  metadata: JsonObject = {},
): JsonObject {
  return { apiVersion, kind, metadata: { name: 'x', ...metadata }, ...more }
}

describe('computeStatus', () => {
  it('agrees with real kstatus on every recorded object', () => {
    assert.equal(recorded.of.length, KSTATUS_OBJECTS.length, 'objects.ts changed: record again')
    assert.ok(recorded.of.length > 2000)
    for (const [index, { name, object }] of KSTATUS_OBJECTS.entries()) {
      const phrases = recorded.verdicts[recorded.of[index] ?? -1]
      const { status, message, reason } = computeStatus(object as JsonObject, AT)
      const location = `${name}: ${JSON.stringify(object)}`
      if (phrases?.error === true)
        assert.deepEqual([status, reason], ['Unknown', 'StatusNotReadable'], location)
      else
        assert.deepEqual(
          { status, message, reason },
          { status: phrases?.status, message: phrases?.message, reason: phrases?.reason ?? '' },
          location,
        )
    }
  })

  it('covers every status and every kind of the table in the recording', () => {
    const words = new Set(recorded.verdicts.map(({ status }) => status))
    assert.deepEqual([...words].sort(), [
      'Current',
      'Failed',
      'InProgress',
      'Terminating',
      undefined,
    ])
    assert.equal(
      new Set(KSTATUS_OBJECTS.map(({ object }) => `${object['apiVersion']} ${object['kind']}`))
        .size > 100,
      true,
    )
  })

  const ready = { conditions: [{ type: 'Ready', status: 'True' }] }
  const table: readonly (readonly [string, JsonObject, string, string])[] = [
    [
      'a terminating object',
      object('v1', 'Pod', {}, { deletionTimestamp: '2026-01-01T00:00:00Z' }),
      'Terminating',
      'Resource scheduled for deletion',
    ],
    [
      'a generation that is not observed yet',
      object(
        'example.com/v1',
        'Thing',
        { status: { observedGeneration: 1, ...ready } },
        { generation: 2 },
      ),
      'InProgress',
      'Thing generation is 2, but latest observed generation is 1',
    ],
    [
      'a Deployment of another group',
      object('example.com/v1', 'Deployment', { status: ready }),
      'Current',
      'Resource is Ready',
    ],
    [
      'a failed Pod',
      object('v1', 'Pod', { status: { phase: 'Failed' } }),
      'Current',
      'Pod has completed, but not successfully',
    ],
    [
      'a LoadBalancer without external address',
      object('v1', 'Service', { spec: { type: 'LoadBalancer', clusterIP: '10.0.0.1' } }),
      'Current',
      'Service is ready',
    ],
    [
      'an unknown Pod phase',
      object('v1', 'Pod', { status: { phase: 'Unknown' } }),
      'Unknown',
      'unknown phase Unknown',
    ],
    [
      'a status that is a string',
      object('example.com/v1', 'Thing', { status: 'str' }),
      'Unknown',
      'cannot restore struct from: string',
    ],
    [
      'a Namespace',
      object('v1', 'Namespace', { status: { phase: 'Active' } }),
      'Current',
      'Resource is current',
    ],
  ]
  for (const [name, value, status, message] of table) {
    it(`judges ${name}`, () => {
      const got = computeStatus(value, AT)
      assert.deepEqual([got.status, got.message], [status, message])
    })
  }

  it('treats a suspended Job as current only while its suspension is declared', () => {
    const conditions = [{ type: 'Suspended', status: 'True' }]
    const job = (suspend: boolean) =>
      object('batch/v1', 'Job', { spec: { suspend }, status: { conditions } })
    assert.deepEqual(computeStatus(job(true), AT).message, 'Job is suspended')
    assert.deepEqual(computeStatus(job(false), AT).message, 'Job not started')
  })

  it('waits 15 seconds before an unschedulable Pod counts as failed', () => {
    const status = {
      phase: 'Pending',
      conditions: [{ type: 'PodScheduled', status: 'False', reason: 'Unschedulable' }],
    }
    const pod = object('v1', 'Pod', { status }, { creationTimestamp: '2026-11-20T10:00:00Z' })
    const after = (seconds: number) =>
      computeStatus(pod, new Date(AT.getTime() + seconds * 1000)).status
    assert.deepEqual(
      [after(0), after(14), after(15), after(3600)],
      ['InProgress', 'InProgress', 'Failed', 'Failed'],
    )
  })

  it('compares generations beyond 2^53 exactly', () => {
    const thing = object(
      'example.com/v1',
      'Thing',
      { status: { observedGeneration: 9007199254740993n } },
      { generation: 9007199254740992n },
    )
    assert.equal(computeStatus(thing, AT).status, 'InProgress')
  })

  it('distinguishes an object that reports no status from one that does', () => {
    assert.equal(computeStatus(object('example.com/v1', 'Thing'), AT).reported, false)
    assert.equal(
      computeStatus(object('example.com/v1', 'Thing', { status: null }), AT).reported,
      false,
    )
    assert.equal(
      computeStatus(object('example.com/v1', 'Thing', { status: {} }), AT).reported,
      true,
    )
  })

  it('distinguishes absent from unreadable', () => {
    assert.equal(NOT_FOUND.status, 'NotFound')
    assert.deepEqual(createUnknownStatus('forbidden'), {
      status: 'Unknown',
      message: 'forbidden',
      reason: 'Unreadable',
      reported: false,
    })
  })
})
