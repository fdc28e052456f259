import assert from 'node:assert/strict'
import { test } from 'node:test'
import { formatLoggableName } from '@backporch/kyaml/redaction'
import {
  createUnreadFailures,
  getUnreadCauseKey,
  isUnread,
  type UnreadObjects,
} from './unread-objects.ts'

const [PROD, EDGE] = [formatLoggableName('prod'), formatLoggableName('edge')]

function unread(name: string, more: Partial<UnreadObjects> = {}): UnreadObjects {
  const rule = 'bind user "drift" to a Role in namespace shop'
  return {
    cluster: PROD,
    package: formatLoggableName(name),
    code: 'BP3003',
    why: '',
    remedy: rule,
    objects: [`Deployment shop/${name}`],
    ...more,
  }
}

test('the missing rights of a cluster are one failure with each rule once', () => {
  const found = [
    unread('a'),
    unread('b'),
    unread('b', { remedy: 'bind it to a ClusterRole', objects: ['Namespace shop'] }),
    unread('a', { cluster: EDGE }),
  ]
  const failures = createUnreadFailures(found)
  assert.deepEqual(
    failures.map(({ cluster, failure: { code, what, where, remedy } }) => [
      cluster,
      code,
      what,
      where,
      remedy,
    ]),
    [
      [
        'prod',
        'BP3003',
        'the account lacks rights for 3 objects of 2 packages',
        'cluster prod: Deployment shop/a, Deployment shop/b, Namespace shop',
        'bind user "drift" to a Role in namespace shop; bind it to a ClusterRole',
      ],
      [
        'edge',
        'BP3003',
        'the account lacks rights for 1 object of 1 package',
        'cluster edge: Deployment shop/a',
        'bind user "drift" to a Role in namespace shop',
      ],
    ],
  )
})

test('a failure names five objects and five rules, and counts the rest', () => {
  const many = Array.from({ length: 7 }, (_, index) =>
    unread(`p${index}`, { remedy: `rule ${index}` }),
  )
  const [failure] = createUnreadFailures(many).map((one) => one.failure)
  assert.match(failure?.where ?? '', /shop\/p4, and 2 more$/)
  assert.equal(failure?.remedy, 'rule 0; rule 1; rule 2; rule 3; rule 4; and 2 more')
})

test('each other cause is one failure over all its packages', () => {
  const broken = { code: 'BP3005', why: 'the server is broken', remedy: 'mend it' } as const
  const found = [
    unread('a', broken),
    unread('b', broken),
    unread('c', { ...broken, why: 'the webhook is broken' }),
  ]
  assert.deepEqual(
    createUnreadFailures(found).map(({ failure: { code, what, why } }) => [code, what, why]),
    [
      ['BP3005', 'cannot read 2 objects of 2 packages', 'the server is broken'],
      ['BP3005', 'cannot read 1 object of 1 package', 'the webhook is broken'],
    ],
  )
  assert.equal(new Set(found.map(getUnreadCauseKey)).size, 2)
})

test('unreadable objects and those unproven for lack of rights are unread; rejected ones are not', () => {
  const of = (state: 'unreadable' | 'unverified' | 'blocked', code: string) =>
    isUnread({ state, code, why: '' })
  assert.deepEqual(
    [
      of('unreadable', 'BP3005'),
      of('unverified', 'BP3003'),
      of('unverified', 'BP3012'),
      of('blocked', 'BP3011'),
    ],
    [true, true, false, false],
  )
})
