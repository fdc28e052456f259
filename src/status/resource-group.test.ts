import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { getKey, type Json, type JsonObject } from '@backporch/kyaml/json'
import * as fc from '../../test/seeds/fast-check.ts'
import {
  buildResourceGroup,
  type GroupMember,
  type GroupSource,
  type MemberDrift,
  readResourceGroup,
} from './resource-group.ts'

const web: GroupMember = {
  id: { group: 'apps', kind: 'Deployment', namespace: 'shop', name: 'web' },
  status: 'InProgress',
  drift: 'drifted',
  message: '2 differences to git',
  health: 'Available: 0/1',
}
const config: GroupMember = {
  id: { group: '', kind: 'ConfigMap', namespace: 'shop', name: 'web' },
  status: 'Current',
  drift: 'in-sync',
  message: '',
}
const unread: GroupMember = {
  id: { group: '', kind: 'Secret', namespace: 'shop', name: 'key' },
  status: 'Unknown',
  drift: 'unverified',
  message: '',
}

function source(members: readonly GroupMember[], more: Partial<GroupSource> = {}): GroupSource {
  const drifts = members.map(({ drift }) => drift)
  const drift: MemberDrift =
    (['drifted', 'unverified', 'waiting', 'stuck'] as const).find((word) =>
      drifts.includes(word),
    ) ?? 'in-sync'
  const drifted = members.filter((member) => member.drift === 'drifted').map(({ id }) => id)
  const none = {
    namespace: undefined,
    inventoryId: undefined,
    commit: 'c0ffee',
    previous: undefined,
    drift,
    drifted,
  }
  return { name: 'apps--web', at: '2026-11-20T10:00:00Z', members, ...none, ...more }
}

function at(value: Json, ...path: readonly string[]): Json | undefined {
  return path.reduce<Json | undefined>(
    (current, name) =>
      typeof current === 'object' && current !== null
        ? getKey(current as JsonObject, name)
        : undefined,
    value,
  )
}

describe('buildResourceGroup', () => {
  it('writes the same fields as kpt and Config Sync', () => {
    const group = buildResourceGroup(
      source([web, config], { namespace: 'shop', inventoryId: 'id-1' }),
    )
    const time = '2026-11-20T10:00:00Z'
    assert.deepEqual(group, {
      apiVersion: 'kpt.dev/v1alpha1',
      kind: 'ResourceGroup',
      metadata: {
        name: 'apps--web',
        namespace: 'shop',
        labels: { 'cli-utils.sigs.k8s.io/inventory-id': 'id-1' },
        annotations: { 'config.kubernetes.io/local-config': 'true' },
        generation: 1,
      },
      spec: {
        descriptor: { type: 'package', revision: 'c0ffee' },
        resources: [{ ...config.id }, { ...web.id }],
      },
      status: {
        observedGeneration: 1,
        resourceStatuses: [
          {
            ...config.id,
            status: 'Current',
            strategy: 'Apply',
            actuation: 'Succeeded',
            reconcile: 'Succeeded',
          },
          {
            ...web.id,
            status: 'InProgress',
            strategy: 'Apply',
            actuation: 'Pending',
            reconcile: 'Pending',
            conditions: [
              {
                type: 'Reconciling',
                status: 'True',
                reason: 'InProgress',
                message: 'Available: 0/1',
                lastTransitionTime: time,
              },
              {
                type: 'Drifted',
                status: 'True',
                reason: 'DriftDetected',
                message: '2 differences to git',
                lastTransitionTime: time,
              },
            ],
          },
        ],
        conditions: [
          {
            type: 'Reconciling',
            status: 'True',
            reason: 'InProgress',
            message: 'apps/Deployment/shop/web',
            lastTransitionTime: time,
          },
          {
            type: 'Stalled',
            status: 'False',
            reason: 'NotStalled',
            message: '',
            lastTransitionTime: time,
          },
          {
            type: 'Drifted',
            status: 'True',
            reason: 'DriftDetected',
            message: 'apps/Deployment/shop/web',
            lastTransitionTime: time,
          },
        ],
      },
    })
  })

  it('does not depend on the order of its input', () => {
    fc.assert(
      fc.property(fc.shuffledSubarray([web, config, unread], { minLength: 3 }), (resources) => {
        assert.deepEqual(
          buildResourceGroup(source(resources)),
          buildResourceGroup(source([web, config, unread])),
        )
      }),
    )
  })

  it('claims nothing about an unverified object, and is not in sync then', () => {
    const group = buildResourceGroup(source([unread]))
    const [status] = at(group, 'status', 'resourceStatuses') as readonly JsonObject[]
    assert.equal(Object.hasOwn(status ?? {}, 'actuation'), false)
    const conditions = at(group, 'status', 'conditions') as readonly JsonObject[]
    assert.deepEqual(
      conditions.map((each) => each['status']),
      ['Unknown', 'Unknown', 'Unknown'],
    )
    const present = { ...config, drift: 'unverified' as const }
    assert.equal(
      (
        at(buildResourceGroup(source([present])), 'status', 'conditions') as readonly JsonObject[]
      )[2]?.['status'],
      'Unknown',
    )
  })

  it('keeps the time of an unchanged condition only', () => {
    const before = buildResourceGroup(source([web, config]))
    const later = { at: '2026-11-20T11:00:00Z', previous: before }
    assert.deepEqual(buildResourceGroup(source([web, config], later)), before)
    const settled = buildResourceGroup(source([{ ...web, drift: 'in-sync' }, config], later))
    const conditions = at(settled, 'status', 'conditions') as readonly JsonObject[]
    assert.deepEqual(
      conditions.map((each) => each['lastTransitionTime']),
      ['2026-11-20T10:00:00Z', '2026-11-20T10:00:00Z', '2026-11-20T11:00:00Z'],
    )
  })

  it('writes no sentence that resembles a credential, and none about a Secret', () => {
    const leaking = { ...web, health: 'cannot reach https://bot:hunter2hunter2@db.example/' }
    const text = JSON.stringify(
      buildResourceGroup(source([leaking, { ...unread, health: 'canary' }])),
    )
    assert.equal(text.includes('hunter2'), false)
    assert.equal(text.includes('canary'), false)
  })

  it('names at most five objects in a sentence', () => {
    const many = Array.from({ length: 8 }, (_, index) => ({
      ...web,
      id: { ...web.id, name: `web-${index}` },
    }))
    const conditions = at(
      buildResourceGroup(source(many)),
      'status',
      'conditions',
    ) as readonly JsonObject[]
    assert.match(String(conditions[2]?.['message']), /web-4 and 3 more$/)
  })
})

describe('readResourceGroup', () => {
  it('reads back what was written', () => {
    const read = readResourceGroup(buildResourceGroup(source([web, config, unread])))
    assert.deepEqual(read, [config, unread, web])
  })

  it('treats output of kpt live as unverified', () => {
    const status = {
      resourceStatuses: [
        {
          group: '',
          kind: 'ConfigMap',
          namespace: 'a',
          name: 'b',
          status: 'Shiny',
          strategy: 'Apply',
        },
      ],
    }
    assert.deepEqual(readResourceGroup({ status }), [
      {
        id: { group: '', kind: 'ConfigMap', namespace: 'a', name: 'b' },
        status: 'Unknown',
        drift: 'unverified',
        message: '',
      },
    ])
    for (const value of [null, 'x', [], {}, { status: { resourceStatuses: 'x' } }])
      assert.deepEqual(readResourceGroup(value), [])
  })
})
