import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type FieldManager, getManagedFields } from '@backporch/kyaml/field'
import type { JsonObject } from '@backporch/kyaml/json'
import { appliedBy, editedBy, TEST_SCHEMA, withMetadata } from '../../../test/fakes/live-object.ts'
import type { SyncerManager } from '../compare/drift.ts'
import { findSyncer } from './syncer.ts'

const MANIFEST: JsonObject = {
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name: 'web', namespace: 'shop', labels: { app: 'web' } },
  data: { a: '1', b: '2', c: '3' },
}

type Part = readonly [
  manager: string,
  part: JsonObject,
  operation?: 'Apply' | 'Update',
  time?: string,
]

/** An object with one entry per manager, each with its own part of the manifest. */
function livedWith(...parts: readonly Part[]): JsonObject {
  const entries = parts.map(([manager, part, operation, time]) => {
    const [entry] = getManagedFields(appliedBy(manager, part)).entries
    assert.ok(entry !== undefined)
    const list = appliedBy(manager, part)['metadata'] as { managedFields: JsonObject[] }
    return {
      ...list.managedFields[0],
      ...(operation === undefined ? {} : { operation }),
      ...(time === undefined ? {} : { time }),
    }
  })
  return withMetadata(MANIFEST, { managedFields: entries as never })
}

function at(time: string, live: JsonObject): JsonObject {
  const { managedFields } = live['metadata'] as { managedFields: JsonObject[] }
  return withMetadata(live, { managedFields: managedFields.map((entry) => ({ ...entry, time })) })
}

const LAST_APPLIED = 'kubectl.kubernetes.io/last-applied-configuration'
const MARKED: JsonObject = {
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name: 'web', annotations: { [LAST_APPLIED]: '' } },
}

function remembering(live: JsonObject, applied: JsonObject): JsonObject {
  return withMetadata(live, { annotations: { [LAST_APPLIED]: JSON.stringify(applied) } })
}

/** As a client-side apply leaves it: an Update that owns the annotation, too. */
function keepsLastApplied(manager: string, part: JsonObject, applied: JsonObject): JsonObject {
  const owned = withMetadata(part, { annotations: { [LAST_APPLIED]: '' } })
  return remembering(livedWith([manager, owned, 'Update']), applied)
}

function syncerOf(...lives: readonly JsonObject[]): string | undefined {
  return findSyncer(lives.map((live) => ({ desired: MANIFEST, live, schema: TEST_SCHEMA })))
    ?.manager
}

const ONE_KEY: JsonObject = {
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name: 'web' },
  data: { a: '1' },
}

const FOUND: readonly (readonly [
  name: string,
  lives: readonly JsonObject[],
  syncer: string | undefined,
])[] = [
  ['the manager that applied', [appliedBy('my-ci', MANIFEST)], 'my-ci'],
  ['kubectl when no other manager applied', [appliedBy('kubectl', MANIFEST)], 'kubectl'],
  ['the manager that owns most', [livedWith(['one-ci', ONE_KEY], ['my-ci', MANIFEST])], 'my-ci'],
  [
    'the controller once it took over one object from the bootstrap',
    [
      appliedBy('flux', MANIFEST),
      appliedBy('flux', MANIFEST),
      appliedBy('flux', MANIFEST),
      livedWith(['kustomize-controller', MANIFEST]),
    ],
    'kustomize-controller',
  ],
  ['the bootstrap command when no controller applied', [appliedBy('flux', MANIFEST)], 'flux'],
  [
    'the GitOps tool after a manual apply of the whole manifest',
    [livedWith(['kubectl', MANIFEST], ['kustomize-controller', MANIFEST])],
    'kustomize-controller',
  ],
  [
    'a CI after a manual apply of the whole manifest',
    [livedWith(['kubectl', MANIFEST], ['my-ci', MANIFEST])],
    'my-ci',
  ],
  [
    'not a GitOps tool that owns almost nothing',
    [livedWith(['my-ci', MANIFEST], ['helm', ONE_KEY])],
    'my-ci',
  ],
  [
    'an applier with its own name rather than a client-side apply',
    [livedWith(['kubectl-client-side-apply', MANIFEST, 'Update'], ['my-ci', MANIFEST])],
    'my-ci',
  ],
  [
    'client-side apply when another applier owns only one key',
    [livedWith(['kubectl-client-side-apply', MANIFEST, 'Update'], ['my-ci', ONE_KEY])],
    'kubectl-client-side-apply',
  ],
  ['Helm 3, which only updates', [livedWith(['helm', MANIFEST, 'Update'])], 'helm'],
  [
    'Helm 3 despite a manual apply of one release object',
    [livedWith(['helm', MANIFEST, 'Update'], ['kubectl', MANIFEST])],
    'helm',
  ],
  [
    'kpt, which updates as kubectl and writes the last-applied annotation',
    [keepsLastApplied('kubectl', MANIFEST, MANIFEST)],
    'kubectl',
  ],
  [
    'the writer of the last-applied annotation, under any name',
    [keepsLastApplied('my-ci', MANIFEST, MANIFEST)],
    'my-ci',
  ],
  [
    'Argo CD on an RBAC object whose content is under its other name',
    [livedWith(['argocd-application-controller', MANIFEST, 'Update'])],
    'argocd-application-controller',
  ],
  [
    'nobody when the only edit came from the Argo CD web page',
    [livedWith(['argocd-server', MANIFEST, 'Update'])],
    undefined,
  ],
  [
    'the GitOps tool whose declared fields a person took over',
    [
      livedWith(
        [
          'kustomize-controller',
          {
            apiVersion: 'v1',
            kind: 'ConfigMap',
            metadata: { name: 'web', labels: { 'example.com/by': 'flux' } },
          },
        ],
        ['kubectl-edit', MANIFEST, 'Update'],
      ),
    ],
    'kustomize-controller',
  ],
  [
    'client-side apply when there is no other manager',
    [livedWith(['kubectl-client-side-apply', MANIFEST, 'Update'])],
    'kubectl-client-side-apply',
  ],
  [
    'nobody when all managers only updated',
    [editedBy('kubectl-edit', withMetadata(MANIFEST, {}), 'data.a', '5')],
    undefined,
  ],
  ['nobody when there are no objects', [], undefined],
]

for (const [name, lives, syncer] of FOUND) {
  test(`the syncer is ${name}`, () => {
    assert.equal(syncerOf(...lives), syncer)
    assert.equal(
      syncerOf(
        ...lives.map((live) =>
          withMetadata(live, {
            managedFields:
              (live['metadata'] as { managedFields?: [] }).managedFields?.toReversed() ?? [],
          }),
        ),
      ),
      syncer,
    )
  })
}

const EARLIER = '2026-01-01T10:00:00Z'
const LATER = '2026-01-01T11:00:00Z'

function syncerIn(...lives: readonly JsonObject[]): SyncerManager | undefined {
  return findSyncer(lives.map((live) => ({ desired: MANIFEST, live, schema: TEST_SCHEMA })))
}

function namesOf(syncer: SyncerManager | undefined): string {
  const text = ({ manager, operation }: FieldManager): string => `${manager} ${operation}`
  return syncer === undefined
    ? 'nobody'
    : [text(syncer), ...(syncer.former ?? []).map(text)].join(' < ')
}

const FORMER: readonly (readonly [name: string, lives: readonly JsonObject[], expected: string])[] =
  [
    [
      'Helm 4 after a takeover from Helm 3 without its definitions',
      [
        at(LATER, appliedBy('helm', MANIFEST)),
        at(LATER, appliedBy('helm', MANIFEST)),
        livedWith(['helm', MANIFEST, 'Update', EARLIER]),
      ],
      'helm Apply < helm Update',
    ],
    [
      'Argo CD with server-side apply of some objects',
      [
        livedWith(['argocd-controller', MANIFEST, 'Update']),
        livedWith(['argocd-controller', MANIFEST, 'Update']),
        appliedBy('argocd-controller', MANIFEST),
      ],
      'argocd-controller Update < argocd-controller Apply',
    ],
    [
      'Argo CD with RBAC objects under its other name',
      [
        livedWith(
          ['argocd-controller', MANIFEST],
          ['argocd-application-controller', MANIFEST, 'Update'],
        ),
        appliedBy('argocd-controller', MANIFEST),
      ],
      'argocd-controller Apply < argocd-application-controller Update',
    ],
    [
      'kubectl of a person who applied, replaced and created objects',
      [
        livedWith(['kubectl-client-side-apply', MANIFEST, 'Update']),
        livedWith(['kubectl-client-side-apply', MANIFEST, 'Update']),
        appliedBy('kubectl', MANIFEST),
        livedWith(['kubectl-replace', MANIFEST, 'Update']),
        livedWith(['kubectl-create', ONE_KEY, 'Update'], ['kubectl-edit', ONE_KEY, 'Update']),
      ],
      'kubectl-client-side-apply Update < kubectl Apply < kubectl-create Update < kubectl-replace Update',
    ],
    [
      'Flux after Helm without later Helm writes',
      [
        livedWith(
          ['helm', MANIFEST, 'Update', EARLIER],
          ['kustomize-controller', MANIFEST, 'Apply', LATER],
        ),
      ],
      'kustomize-controller Apply < helm Update',
    ],
    [
      'client-side Argo CD after Helm, which still owns its fields',
      [
        livedWith(
          ['helm', MANIFEST, 'Update', EARLIER],
          ['argocd-controller', MARKED, 'Update', LATER],
        ),
      ].map((live) => remembering(live, MANIFEST)),
      'argocd-controller Update < helm Update',
    ],
    [
      'Helm after Argo CD without later Argo CD writes',
      [
        livedWith(
          ['argocd-controller', MANIFEST, 'Update', EARLIER],
          ['helm', MANIFEST, 'Update', LATER],
        ),
      ],
      'helm Update < argocd-controller Update',
    ],
    [
      'before-first-apply of the server',
      [
        livedWith(
          ['before-first-apply', MANIFEST, 'Update', EARLIER],
          ['my-ci', MANIFEST, 'Apply', LATER],
        ),
      ],
      'my-ci Apply < before-first-apply Update',
    ],
    [
      'none while a former tool still writes',
      [
        livedWith(
          ['kustomize-controller', MANIFEST, 'Apply', EARLIER],
          ['helm', MANIFEST, 'Update', EARLIER],
        ),
        livedWith(
          ['kustomize-controller', MANIFEST, 'Apply', EARLIER],
          ['helm', MANIFEST, 'Update', LATER],
        ),
      ],
      'kustomize-controller Apply',
    ],
    [
      'none when another GitOps tool owns only one key',
      [
        livedWith(
          ['helm', ONE_KEY, 'Update', EARLIER],
          ['kustomize-controller', MANIFEST, 'Apply', LATER],
        ),
      ],
      'kustomize-controller Apply',
    ],
    [
      'none for an earlier GitOps tool with undeclared fields, which stay visible',
      [
        livedWith(
          ['kustomize-controller', MANIFEST, 'Apply', EARLIER],
          ['argocd-controller', MANIFEST, 'Apply', LATER],
        ),
      ],
      'argocd-controller Apply',
    ],
    ...[
      'kubectl-client-side-apply',
      'kubectl',
      'kubectl-edit',
      'kubectl-create',
      'argocd-server',
    ].map(
      (people) =>
        [
          `nobody of those who wrote as ${people}, before the syncer or after`,
          [
            livedWith(
              [people, MANIFEST, 'Update', EARLIER],
              ['kustomize-controller', MANIFEST, 'Apply', LATER],
            ),
            livedWith(
              [people, MANIFEST, 'Update', LATER],
              ['kustomize-controller', MANIFEST, 'Apply', EARLIER],
            ),
          ],
          'kustomize-controller Apply',
        ] as const,
    ),
  ]

for (const [name, lives, expected] of FORMER) {
  test(`other names of the same syncer: ${name}`, () => {
    assert.equal(namesOf(syncerIn(...lives)), expected)
    assert.equal(namesOf(syncerIn(...lives.toReversed())), expected)
  })
}

test('the configured manager is the syncer, with its operation on the objects', () => {
  const given = (name: string, ...lives: readonly JsonObject[]): string =>
    namesOf(
      findSyncer(
        lives.map((live) => ({ desired: MANIFEST, live, schema: TEST_SCHEMA })),
        name,
      ),
    )
  assert.equal(given('my-ci'), 'my-ci Apply')
  assert.equal(given('my-ci', appliedBy('kustomize-controller', MANIFEST)), 'my-ci Apply')
  assert.equal(
    given(
      'kubectl-client-side-apply',
      livedWith(['kubectl-client-side-apply', MANIFEST, 'Update']),
    ),
    'kubectl-client-side-apply Update',
  )
  assert.equal(
    given('helm', livedWith(['helm', MANIFEST]), livedWith(['helm', ONE_KEY, 'Update'])),
    'helm Apply < helm Update',
  )
})

test('a manager of only the status is not an applier', () => {
  const status = {
    ...MANIFEST,
    metadata: {
      ...(MANIFEST['metadata'] as JsonObject),
      managedFields: [
        { manager: 'x', operation: 'Apply', subresource: 'status', fieldsV1: { 'f:data': {} } },
      ],
    },
  }
  assert.equal(syncerOf(status), undefined)
})

test('a person who edits the client-side apply annotation does not become the applier', () => {
  const applied = keepsLastApplied('kubectl-client-side-apply', MANIFEST, MANIFEST)
  const entries = (...parts: readonly JsonObject[]) =>
    parts.flatMap((part) => (part['metadata'] as { managedFields: JsonObject[] }).managedFields)
  const emptied = livedWith(['kubectl-client-side-apply', { ...MANIFEST, data: {} }, 'Update'])
  const edited = keepsLastApplied('kubectl-edit', { ...MANIFEST, data: { a: '1' } }, MANIFEST)
  const live = withMetadata(applied, { managedFields: entries(emptied, edited) as never })
  assert.equal(syncerOf(live), 'kubectl-client-side-apply')
})
