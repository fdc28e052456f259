/** One object that two units declare: what the other unit declares is no drift, and what a person wrote is. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { DriftReportList } from '../../src/record/documents/drift-report-list.ts'
import { controlPlaneSuite } from '../controlplane/control-plane-suite.ts'
import { kptfile, policy } from './packages.ts'
import { PROPOSE } from './review-world.ts'
import { assertExit, openWorld } from './world.ts'

await controlPlaneSuite('an object that two units declare', {}, (plane) => {
  test('is reported with both places and not proposed, and its other differences stay', async (t) => {
    const namespace = await plane.namespace('twice')
    const config = (name: string, size: string, more = ''): string =>
      `apiVersion: v1\nkind: ConfigMap\nmetadata: {name: ${name}, namespace: ${namespace}}\ndata: {size: "${size}"${more}}\n`
    const world = await openWorld(t, plane, {
      'apps/one/Kptfile': kptfile('one'),
      'apps/one/shared.yaml': config('shared', '1', ', theme: light'),
      'apps/one/own.yaml': config('one', '1'),
      'apps/two/Kptfile': kptfile('two'),
      'apps/two/shared.yaml': config('shared', '2'),
      'apps/two/own.yaml': config('two', '1'),
      ...policy(PROPOSE),
    })
    const look = async (code: number): Promise<readonly [lines: string[], blocked: string[]]> => {
      const list: DriftReportList = JSON.parse(
        assertExit(await world.backporch('diff', '-o', 'json'), code).stdout,
      )
      return [
        list.items.flatMap(({ spec }) =>
          spec.changes.map(({ path, source }) => `${source} ${path}`),
        ),
        list.incomplete.map(({ code, package: path, why }) => `${path} ${code} ${why}`),
      ]
    }
    await world.sync('apps/one')
    await world.sync('apps/two')
    const why =
      'also declares the object, and its value of data.size, data.theme is live: the last apply wins, so Restore does not end it'
    assert.deepEqual(await look(3), [[], [`apps/one BP1113 apps/two/shared.yaml:1 ${why}`]])
    const shown = await world.backporch('diff')
    assert.match(
      shown.stdout + shown.stderr,
      /declare the object in one of the two units \(apps\/one\/shared\.yaml:1\)/,
    )
    assertExit(await world.backporch('scan'), 3)
    assert.deepEqual(await world.proposals(), [])

    await world.sync('apps/one')
    assert.deepEqual(await look(3), [
      [],
      [
        `apps/two BP1113 apps/one/shared.yaml:1 ${why.replace(', data.theme', '').replace('data.size', 'data.size, data.theme')}`,
      ],
    ])

    const edit = (size: string): Promise<string> =>
      world.kubectl(
        'patch',
        'configmap/shared',
        '-n',
        namespace,
        '--type=merge',
        '-p',
        JSON.stringify({ data: { size } }),
      )
    await edit('9')
    const [lines] = await look(3)
    assert.deepEqual(lines.toSorted(), [
      'apps/one/shared.yaml:1 data.size',
      'apps/two/shared.yaml:1 data.size',
    ])

    await edit('2')
    assert.deepEqual(
      (await look(3))[0],
      ['apps/one/shared.yaml:1 data.size'],
      'an edit to what the other unit declares is an edit',
    )
  })

  test('a duplicate declaration does not hide an object that a tenant may not have', async (t) => {
    const [mine, theirs] = [await plane.namespace('mine'), await plane.namespace('theirs')]
    const config = (size: string): string =>
      `apiVersion: v1\nkind: ConfigMap\nmetadata: {name: shared, namespace: ${mine}}\ndata: {size: "${size}"}\n`
    const placed = (name: string, namespace: string): string =>
      `apiVersion: backporch.dev/v1alpha1\nkind: Placement\nmetadata: {name: ${name}}\nspec: {clusters: ["*"], packages: [apps/${name}], allow: {namespaces: [${namespace}]}}\n`
    const world = await openWorld(t, plane, {
      'apps/one/Kptfile': kptfile('one'),
      'apps/one/shared.yaml': config('1'),
      'apps/two/Kptfile': kptfile('two'),
      'apps/two/shared.yaml': config('2'),
      '.drift/one.yaml': placed('one', mine),
      '.drift/two.yaml': placed('two', theirs),
      ...policy(PROPOSE),
    })
    await world.sync('apps/one')
    await world.sync('apps/two')
    const list: DriftReportList = JSON.parse(
      assertExit(await world.backporch('diff', '-o', 'json'), 3).stdout,
    )
    assert.deepEqual(
      list.items.flatMap(({ spec }) => spec.changes.map(({ path, source }) => `${source} ${path}`)),
      ['apps/one/shared.yaml:1 data.size'],
    )
    assert.deepEqual(
      list.incomplete.map(({ code, package: path }) => `${path} ${code}`),
      ['apps/two BP3017'],
    )
  })
})
