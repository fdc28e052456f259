/**
 * Names that the API server accepts and that are no DNS names, as objects of RBAC may have: each is read alone and in a list, proven by a dry run, and
 * found by its own name, whatever separates the parts of a selector, a path or a line.
 */
import assert from 'node:assert/strict'
import type { DriftReportList } from '../../src/record/documents/drift-report-list.ts'
import { controlPlaneSuite } from '../controlplane/control-plane-suite.ts'
import { Draw } from '../hostile/credential-forms.ts'
import { testEachSeed } from '../seeds/seeds.ts'
import { kptfile } from './packages.ts'
import { assertExit, openWorld } from './world.ts'

/** Each of these in a name; a slash and a percent sign are not accepted. */
const CHARACTERS = [
  '=',
  ',',
  '\\',
  '!',
  ':',
  '?',
  '#',
  '+',
  '&',
  ' ',
  '"',
  "'",
  '$',
  '(',
  ')',
  '*',
  '<',
  '>',
  '@',
  '[',
  ']',
  '^',
  '`',
  '{',
  '|',
  '}',
  '~',
  'ü',
  '字',
]

await controlPlaneSuite('names of RBAC', {}, (plane) => {
  testEachSeed(
    import.meta.filename,
    'finds an edit of each, alone in a package and together with others',
    {},
    async (t, seed) => {
      const namespace = await plane.namespace('names')
      const draw = new Draw(`names ${seed}`)
      const drawn = Array.from({ length: 12 }, () =>
        [...draw.text(5, 'abcd')]
          .map(
            (letter) =>
              `${letter}${CHARACTERS[Number(draw.text(4, '0123456789')) % CHARACTERS.length]}`,
          )
          .join(''),
      )
      const names = [
        ...new Set([
          ...CHARACTERS.map((character) => `a${character}b`),
          'cn=admins',
          'a!=b',
          'a==b',
          'a\\,b',
          ...drawn.map((name) => name.trim()),
        ]),
      ]
      const role = (name: string): string =>
        `apiVersion: rbac.authorization.k8s.io/v1\nkind: Role\nmetadata:\n  name: ${JSON.stringify(name)}\n  namespace: ${namespace}\n  labels: {app: web}\nrules: []\n`
      const isSpecial = (name: string): boolean => /[=,\\]/.test(name)
      const [alone, together] = [
        names.filter(isSpecial).slice(0, 10),
        names.filter((name) => !isSpecial(name)),
      ]
      const world = await openWorld(t, plane, {
        ...Object.fromEntries(
          alone.flatMap((name, at) => [
            [`apps/r${at}/Kptfile`, kptfile(`r${at}`)],
            [`apps/r${at}/role.yaml`, role(name)],
          ]),
        ),
        'apps/all/Kptfile': kptfile('all'),
        'apps/all/roles.yaml': together.map(role).join('---\n'),
      })
      const all = [...alone, ...together]
      const edited = all
        .map((name) =>
          role(name).replace(
            'rules: []',
            'rules: [{apiGroups: ["*"], resources: ["*"], verbs: ["*"]}]',
          ),
        )
        .join('---\n')
      await world.pipe(
        all.map(role).join('---\n'),
        'apply',
        '--server-side',
        '--field-manager=ci',
        '--filename=-',
      )
      await world.pipe(
        edited,
        'apply',
        '--server-side',
        '--force-conflicts',
        '--field-manager=kubectl-edit',
        '--filename=-',
      )
      // A package alone asks for its object by name, all of them together ask for a list.
      for (const [units, wanted] of [
        ...alone.map((name, at) => [[`apps/r${at}`], [name]] as const),
        [[], all] as const,
      ]) {
        const list: DriftReportList = JSON.parse(
          assertExit(await world.backporch('diff', ...units, '-o', 'json'), 1).stdout,
        )
        assert.deepEqual(list.incomplete, [])
        const changes = list.items.flatMap(({ spec }) => spec.changes)
        assert.deepEqual(
          changes.map(({ ref, path, risk }) => `${ref.name} ${path} ${risk}`).sort(),
          wanted.map((name) => `${name} rules critical`).sort(),
        )
      }
    },
  )
})
