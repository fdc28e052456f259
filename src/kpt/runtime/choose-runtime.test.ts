import assert from 'node:assert/strict'
import { test } from 'node:test'
import { BUILT_IN } from '../../../functions/built-in-functions.ts'
import {
  setEveryNamespace,
  setEveryNamespaceIfConfigured,
  setNamespace,
  setOldNamespace,
  setOldNamespaceOrFail,
} from '../../../functions/set-namespace/fn.ts'
import {
  setNamespaceOfAccounts,
  setNamespaceOfKustomize,
} from '../../../functions/set-namespace/kustomize-namespace.ts'
import type { PipelineStep } from '../function/pipeline-step.ts'
import type { BuiltIn } from './choose-release.ts'
import { type AllowedFunctions, chooseRuntime, NOTHING_ALLOWED } from './choose-runtime.ts'
import {
  formatRelease,
  parseConstraint,
  parseRelease,
  type ReleaseVersion,
} from './release-version.ts'
import { splitWords } from './split-words.ts'

const DIGEST = `sha256:${'a'.repeat(64)}`

function stepOf({
  image = '',
  exec = '',
  tag = '',
  list = 'mutators',
}: Partial<Record<'image' | 'exec' | 'tag', string>> & {
  list?: PipelineStep['list']
}): PipelineStep {
  const none = {
    name: '',
    configPath: '',
    configMap: new Map(),
    selectors: [],
    exclude: [],
    notEvaluated: [],
  }
  return {
    number: 0,
    folder: '',
    list,
    index: 0,
    function: { image, exec, tag, line: 7, ...none },
    kptfile: 'apps/web/Kptfile',
  }
}

/** `set-labels`, `program /x a b`, `module /x`, `image x`, or the code of the failure. */
function chosen(
  what: Parameters<typeof stepOf>[0],
  allowed: Partial<AllowedFunctions> = {},
): string {
  const choice = chooseRuntime(stepOf(what), { ...NOTHING_ALLOWED, ...allowed }, BUILT_IN)
  if (choice.is === 'refused') return choice.failure.code
  if (choice.is === 'not-run') return `${choice.failure.code} not run`
  if (choice.is === 'program') return ['program', choice.program, ...choice.words].join(' ')
  if (choice.is === 'image') return `image ${choice.image}`
  if (choice.is === 'module')
    return `module ${choice.file}${choice.remark === undefined ? '' : ' remark'}`
  const [name, builtIn] =
    [...BUILT_IN].find(([, { variants }]) => variants.some(({ run }) => run === choice.run)) ?? []
  return `${name} ${builtIn?.variants.findIndex(({ run }) => run === choice.run)}${choice.remark === undefined ? '' : ' remark'}`
}

test('a function with a field that nothing here evaluates is refused, and a validator does not run', () => {
  for (const [list, is] of [
    ['mutators', 'refused'],
    ['validators', 'not-run'],
  ] as const) {
    const step = stepOf({ exec: 'set-labels', list })
    const choice = chooseRuntime(
      { ...step, function: { ...step.function, notEvaluated: ['when'] } },
      NOTHING_ALLOWED,
      BUILT_IN,
    )
    assert.equal(choice.is, is)
    assert.ok('failure' in choice && choice.failure.code === 'BP1201')
    assert.match(choice.failure.why, /when is evaluated by kpt from 1\.0 on, and not here$/)
  }
})

test('an image of the catalog is built in by its name and release, in both registries and by its short name', () => {
  for (const prefix of ['', 'gcr.io/kpt-fn/', 'ghcr.io/kptdev/krm-functions-catalog/']) {
    assert.equal(chosen({ image: `${prefix}set-labels:v0.2.0` }), 'set-labels 0')
    assert.equal(chosen({ image: `${prefix}set-labels:v0.2.1` }), 'set-labels 0')
    assert.equal(chosen({ image: `${prefix}set-labels:v0.1.4` }), 'BP1201')
    assert.equal(chosen({ image: `${prefix}set-labels:v0.3.0` }), 'BP1201')
    assert.equal(chosen({ image: `${prefix}starlark:v0.5.0` }), 'BP1201')
  }
  assert.equal(chosen({ image: 'registry.example/kpt-fn/set-labels:v0.2.0' }), 'BP1206')
  assert.equal(
    chosen({ image: 'ghcr.io/kptdev/krm-functions-catalog/more/set-labels:v0.2.0' }),
    'BP1201',
  )
})

test('a release chooses the behaviour that it had', () => {
  const { variants } = BUILT_IN.get('set-namespace') ?? assert.fail('it is built in')
  assert.deepEqual(
    variants.map(({ run }) => run),
    [
      setNamespace,
      setEveryNamespace,
      setEveryNamespaceIfConfigured,
      setOldNamespace,
      setOldNamespaceOrFail,
      setNamespaceOfAccounts,
      setNamespaceOfKustomize,
    ],
  )
  const name = 'ghcr.io/kptdev/krm-functions-catalog/set-namespace'
  const of = (tag: string): string => chosen({ image: `${name}:${tag}` })
  assert.deepEqual(
    [
      'v0.3.1',
      'v0.3.2',
      'v0.3.3',
      'v0.3.4',
      'v0.4.0',
      'v0.4.1',
      'v0.4.2',
      'v0.4.5',
      'v0.4.6',
      'v0.4.7',
    ].map(of),
    [
      'BP1201',
      'set-namespace 4',
      'set-namespace 3',
      'set-namespace 3',
      'set-namespace 2',
      'set-namespace 1',
      'BP1201',
      'BP1201',
      'set-namespace 0',
      'BP1201',
    ],
  )
  assert.deepEqual(['v0.1.3', 'v0.1.4', 'v0.1.5', 'v0.2.0', 'v0.2.1', 'v0.3.0'].map(of), [
    'BP1201',
    'set-namespace 6',
    'BP1201',
    'set-namespace 5',
    'BP1201',
    'BP1201',
  ])
})

test('a moving tag means the newest known release, with a note; no tag of the older registry moves', () => {
  const name = 'ghcr.io/kptdev/krm-functions-catalog/set-namespace'
  for (const image of [
    `${name}:latest`,
    name,
    `${name}:v0.4`,
    `${name}:v0`,
    `${name}:unstable`,
    'set-namespace',
  ])
    assert.equal(chosen({ image }), 'set-namespace 0 remark', image)
  assert.equal(chosen({ image: `${name}:v0.3` }), 'set-namespace 3 remark')
  assert.equal(chosen({ image: 'gcr.io/kpt-fn/set-namespace:v0.4' }), 'set-namespace 1')
  assert.equal(chosen({ image: 'gcr.io/kpt-fn/set-namespace:v0.2' }), 'set-namespace 5')
  assert.equal(chosen({ image: 'gcr.io/kpt-fn/set-namespace:v0.1' }), 'set-namespace 6')
  assert.equal(chosen({ image: 'gcr.io/kpt-fn/set-namespace' }), 'set-namespace 1')
  // Its newest release sets init containers, which the one that is built in does not.
  assert.equal(chosen({ image: 'ghcr.io/kptdev/krm-functions-catalog/set-image:latest' }), 'BP1201')
  const choice = chooseRuntime(stepOf({ image: `${name}:latest` }), NOTHING_ALLOWED, BUILT_IN)
  assert.equal(
    choice.is === 'built-in' && choice.remark,
    `the tag latest of ${name} means another release from time to time: v0.4.6 runs`,
  )
})

test('the tag of an earlier minor version means its last release', () => {
  assert.equal(chosen({ image: 'gcr.io/kpt-fn/apply-setters:v0.1' }), 'apply-setters 1')
  assert.equal(chosen({ image: 'gcr.io/kpt-fn/apply-setters:v0.1.1' }), 'apply-setters 1')
  assert.equal(chosen({ image: 'apply-setters:v0.1' }), 'apply-setters 1 remark')
  assert.equal(chosen({ image: 'gcr.io/kpt-fn/apply-setters:v0' }), 'apply-setters 0')
  assert.equal(chosen({ exec: 'apply-setters' }), 'apply-setters 0')
})

test('a refusal names the releases that are built in, and no release between them', () => {
  const run = BUILT_IN.get('set-labels')?.variants[0].run ?? assert.fail('it is built in')
  const builtIns = new Map([
    [
      'some',
      {
        variants: [
          { from: [0, 3, 0], below: [0, 4, 0], run },
          { from: [0, 1, 1], below: [0, 1, 2], run },
          { from: [0, 2, 0], below: [0, 2, 2], run },
          { from: [0, 2, 2], below: [0, 2, 4], run },
        ],
        newest: [0, 3, 1],
        last: undefined,
      },
    ],
  ] as const satisfies readonly [string, BuiltIn][])
  const choice = chooseRuntime(
    stepOf({ image: 'gcr.io/kpt-fn/some:v0.1.0' }),
    NOTHING_ALLOWED,
    builtIns,
  )
  assert.match(
    choice.is === 'refused' ? choice.failure.why : '',
    /\(v0\.1\.1, v0\.2\.0 to v0\.2\.3, from v0\.3\.0, below v0\.4\.0\)$/,
  )
})

test('a digest counts only beside a release', () => {
  const name = 'ghcr.io/kptdev/krm-functions-catalog/set-namespace'
  assert.equal(chosen({ image: `${name}:v0.4.6@${DIGEST}` }), 'set-namespace 0')
  assert.equal(chosen({ image: `${name}@${DIGEST}` }), 'BP1201')
})

test('the tag beside an image, which may be a constraint, takes the place of its own', () => {
  const image = 'set-namespace:v0.3.0'
  assert.equal(chosen({ image, tag: 'v0.4.1' }), 'set-namespace 1')
  assert.equal(chosen({ image, tag: '<0.4.6' }), 'BP1201', 'v0.4.5 is a release, and not built in')
  assert.equal(chosen({ image, tag: '<0.4.2' }), 'set-namespace 1 remark')
  assert.equal(chosen({ image, tag: '~0.4' }), 'set-namespace 0 remark')
  assert.equal(chosen({ image, tag: '0.3.x || 0.4.1' }), 'set-namespace 1 remark')
  assert.equal(chosen({ image, tag: '>=0.5' }), 'BP1201')
})

test('constraints hold as Masterminds/semver has them', () => {
  const releases: readonly ReleaseVersion[] = [
    [0, 0, 3],
    [0, 1, 0],
    [0, 4, 1],
    [0, 4, 9],
    [0, 5, 0],
    [1, 0, 0],
    [1, 2, 3],
  ]
  const holding = (text: string): string | undefined => {
    const holds = parseConstraint(text)
    return holds && releases.filter(holds).map(formatRelease).join(' ')
  }
  assert.equal(holding('>=0.4.1, <0.5'), 'v0.4.1 v0.4.9')
  assert.equal(holding('> 0.4'), 'v0.5.0 v1.0.0 v1.2.3')
  assert.equal(holding('<=0.4'), 'v0.0.3 v0.1.0 v0.4.1 v0.4.9')
  assert.equal(holding('~0.4.1'), 'v0.4.1 v0.4.9')
  assert.equal(holding('~0'), 'v0.0.3 v0.1.0 v0.4.1 v0.4.9 v0.5.0')
  assert.equal(holding('^0.4.1'), 'v0.4.1 v0.4.9')
  assert.equal(holding('^1.0'), 'v1.0.0 v1.2.3')
  assert.equal(holding('^0.0.3'), 'v0.0.3')
  assert.equal(holding('0.4.x'), 'v0.4.1 v0.4.9')
  assert.equal(holding('*'), 'v0.0.3 v0.1.0 v0.4.1 v0.4.9 v0.5.0 v1.0.0 v1.2.3')
  assert.equal(holding('!=0.4'), 'v0.0.3 v0.1.0 v0.5.0 v1.0.0 v1.2.3')
  assert.equal(holding('0.4.2 - 1.0'), 'v0.4.9 v0.5.0 v1.0.0')
  assert.equal(holding('v0.1.0 || >=1.2'), 'v0.1.0 v1.2.3')
  for (const text of ['latest', '', '>=', '1.2.3.4', 'v0.4.1-rc.1', '=> x y'])
    assert.equal(holding(text), undefined, text)
  assert.deepEqual([parseRelease('v01.2.3'), parseRelease('v0.4')], [undefined, undefined])
})

test('a package cannot allow its own program', () => {
  assert.equal(chosen({ exec: 'set-namespace' }), 'set-namespace 0')
  assert.equal(chosen({ exec: 'bin/set-namespace' }), 'set-namespace 0 remark')
  assert.equal(chosen({ exec: './functions/set-labels/run.ts' }), 'set-labels 0 remark')
  for (const exec of [
    '../../bin/sh',
    "sh -c 'id'",
    '/bin/sh',
    'set-labels --x',
    './Kptfile',
    '"',
    'my-fn',
    'constructor',
    '__proto__',
  ])
    assert.equal(chosen({ exec }), 'BP1206', exec)
})

test('a validator that nothing may run does not run; one that is built in or allowed does', () => {
  const validator = (
    what: Parameters<typeof stepOf>[0],
    allowed: Partial<AllowedFunctions> = {},
  ): string => chosen({ ...what, list: 'validators' }, allowed)
  const kubeval = 'gcr.io/kpt-fn/kubeval:v0.3.0'
  assert.equal(validator({ image: kubeval }), 'BP1201 not run')
  assert.equal(validator({ image: kubeval }, { images: [kubeval] }), `image ${kubeval}`)
  assert.equal(validator({ image: 'reg.example/check' }), 'BP1206 not run')
  assert.equal(validator({ exec: 'check --all' }), 'BP1206 not run')
  assert.equal(validator({ exec: 'check --all' }, { exec: ['check --all'] }), 'program check --all')
  assert.equal(validator({ image: 'kubeconform:v0.1.2' }), 'kubeconform 0')
})

test('a program is allowed by its text, or without arguments by its absolute path', () => {
  const allow = (...exec: string[]) => ({ exec })
  assert.equal(chosen({ exec: ' my-fn  "a b" ' }, allow('my-fn  "a b"')), 'program my-fn a b')
  assert.equal(chosen({ exec: 'my-fn' }, allow('my-fn  "a b"')), 'BP1206')
  assert.equal(chosen({ exec: '/opt/my-fn' }, allow('/opt/my-fn')), 'program /opt/my-fn')
  assert.equal(chosen({ exec: 'my-fn' }, allow('/opt/my-fn')), 'program /opt/my-fn')
  assert.equal(chosen({ exec: 'my-fn' }, allow('/opt/my-fn', '/usr/my-fn')), 'BP1206')
  // An interpreter that is allowed is not one for any text.
  assert.equal(
    chosen({ exec: '/usr/bin/python3 -c "print()"' }, allow('/usr/bin/python3')),
    'BP1206',
  )
  assert.equal(chosen({ exec: './my-fn' }, allow('./my-fn')), 'BP1206')
  assert.equal(chosen({ exec: '../my-fn' }, allow('/opt/my-fn')), 'BP1206')
  assert.equal(chosen({ exec: 'set-labels' }, allow('/opt/set-labels')), 'program /opt/set-labels')
})

test('a module is allowed by its absolute path, and is named by it, by its end or behind node, without arguments', () => {
  const file = '/srv/fn/team.mjs'
  const allow = { modules: [file, '/srv/other/twice.mjs', '/srv/more/twice.mjs'] }
  for (const exec of [file, 'team.mjs', `node ${file}`, `/usr/bin/node ${file}`])
    assert.match(chosen({ exec }, allow), /^module \/srv\/fn\/team\.mjs/, exec)
  for (const exec of [
    'fn/team.mjs',
    './fn/team.mjs',
    '../fn/team.mjs',
    'node fn/team.mjs',
    'node team.mjs',
  ])
    assert.equal(chosen({ exec }, allow), `module ${file} remark`, exec)
  for (const exec of [
    '/opt/fn/team.mjs',
    'other/team.mjs',
    'am.mjs',
    'twice.mjs',
    'node',
    'node --import ./evil.mjs team.mjs',
    'node team.mjs --strict',
    'team.mjs --strict',
    'bun team.mjs',
  ])
    assert.equal(chosen({ exec }, allow), 'BP1206', exec)
  assert.equal(chosen({ exec: 'other/twice.mjs' }, allow), 'module /srv/other/twice.mjs remark')
  for (const exec of [file, 'team.mjs', 'node fn/team.mjs'])
    assert.equal(chosen({ exec }), 'BP1206', exec)
  for (const exec of ['./team.mjs', 'node fn/team.mts', '/srv/team.ts'])
    assert.match(
      remedyOf({ exec }),
      /^allow the module .*--allow-module=\/…\/team\.(?:mjs|mts|ts); no setting of the package can$/,
      exec,
    )
})

test('an image is allowed by its text, or pinned by its folder', () => {
  const allow = (...images: string[]) => ({ images })
  const mine = 'reg.example/fn/mine'
  assert.equal(chosen({ image: `${mine}:latest` }, allow(`${mine}:latest`)), `image ${mine}:latest`)
  assert.equal(chosen({ image: `${mine}:latest` }, allow('reg.example/fn/')), 'BP1206')
  assert.equal(chosen({ image: mine }, allow('reg.example/fn/')), 'BP1206')
  assert.equal(
    chosen({ image: `${mine}:v1.2.3` }, allow('reg.example/fn/')),
    `image ${mine}:v1.2.3`,
  )
  assert.equal(
    chosen({ image: `${mine}:latest@${DIGEST}` }, allow('reg.example/fn/')),
    `image ${mine}:latest@${DIGEST}`,
  )
  assert.equal(
    chosen({ image: `${mine}@${DIGEST}`, tag: 'edge' }, allow('reg.example/fn/')),
    'BP1206',
  )
  assert.equal(chosen({ image: `${mine}:v1.2.3` }, allow('reg.example/f')), 'BP1206')
  assert.equal(
    chosen({ image: 'localhost:5000/mine:v1.0.0' }, allow('localhost:5000/')),
    'image localhost:5000/mine:v1.0.0',
  )
  const starlark = 'ghcr.io/kptdev/krm-functions-catalog/starlark:v0.5.0'
  assert.equal(chosen({ image: 'starlark:v0.5.0' }, allow(starlark)), `image ${starlark}`)
  // What is built in needs no engine; exactly the image that somebody asks for is that image.
  const labels = 'ghcr.io/kptdev/krm-functions-catalog/set-labels:v0.2.0'
  assert.equal(chosen({ image: labels }, allow('ghcr.io/')), 'set-labels 0')
  assert.equal(chosen({ image: labels }, allow(labels)), `image ${labels}`)
})

test('a refusal names the line of the Kptfile and what the operator can do (C10, C11)', () => {
  const reported = (what: Parameters<typeof stepOf>[0]) => {
    const choice = chooseRuntime(stepOf(what), NOTHING_ALLOWED, BUILT_IN)
    return choice.is === 'refused' ? choice.failure.toJSON() : undefined
  }
  assert.deepEqual(reported({ exec: '../../bin/sh' }), {
    code: 'BP1206',
    what: 'the pipeline wants to run a program, sh',
    where: 'apps/web/Kptfile:7 (mutator 1, sh)',
    why: 'exec "../../bin/sh": its path is relative, and there is no folder that it could start from',
    remedy:
      'name the program without a path in the Kptfile (exec: sh), and allow it by its absolute path where it may run: --allow-exec=/…/sh',
    retry: 'on-change',
  })
  assert.deepEqual(reported({ image: 'evil.example/x:latest' }), {
    code: 'BP1206',
    what: 'the pipeline wants to run an image, x',
    where: 'apps/web/Kptfile:7 (mutator 1, x)',
    why: 'evil.example/x:latest is not on the list of images that are allowed',
    remedy:
      'allow it with --allow-image=evil.example/x:latest where it may run; no setting of the package can',
    retry: 'on-change',
  })
  assert.deepEqual(reported({ image: 'gcr.io/kpt-fn/set-labels:v0.1.4' }), {
    code: 'BP1201',
    what: 'RuntimeMissing(set-labels): nothing here can run the function',
    where: 'apps/web/Kptfile:7 (mutator 1, set-labels)',
    why: 'the image gcr.io/kpt-fn/set-labels:v0.1.4: v0.1.4 is none of the releases that are built in (v0.1.5, v0.2.0 to v0.2.1)',
    remedy:
      'use ghcr.io/kptdev/krm-functions-catalog/set-labels:v0.2.1, which is built in, or allow this image with --allow-image=gcr.io/kpt-fn/set-labels:v0.1.4',
    retry: 'on-change',
  })
})

/** The remedy of the refusal. */
function remedyOf(
  what: Parameters<typeof stepOf>[0],
  allowed: Partial<AllowedFunctions> = {},
): string {
  const choice = chooseRuntime(stepOf(what), { ...NOTHING_ALLOWED, ...allowed }, BUILT_IN)
  return choice.is === 'refused' ? choice.failure.remedy : assert.fail(choice.is)
}

test('the remedy of a refused image allows it, with the tag beside it', () => {
  for (const what of [
    { image: 'evil.example/x:latest' },
    { image: `evil.example/x@${DIGEST}` },
    { image: 'evil.example/x', tag: 'edge' },
  ]) {
    const [, image = ''] =
      /^allow it with --allow-image=(\S+) where it may run;/.exec(remedyOf(what)) ?? []
    assert.equal(chosen(what, { images: [image] }), `image ${image}`)
  }
})

test('the remedy of a refused program allows it', () => {
  assert.match(remedyOf({ exec: 'my-fn' }), /^allow it with --allow-exec="my-fn" /)
  assert.match(
    remedyOf({ exec: '/opt/my-fn --x' }),
    /^allow it with --allow-exec="\/opt\/my-fn --x" /,
  )
  // Whether or not somebody allowed the relative path.
  for (const exec of [[], ['./my-fn']]) {
    const remedy = remedyOf({ exec: './my-fn' }, { exec })
    assert.match(
      remedy,
      /^name the program without a path in the Kptfile \(exec: my-fn\), .*: --allow-exec=\/…\/my-fn$/,
    )
  }
  assert.equal(chosen({ exec: 'my-fn' }, { exec: ['/opt/my-fn'] }), 'program /opt/my-fn')
  assert.match(
    remedyOf({ exec: './my-fn --x' }),
    /without a path in the Kptfile, .*--allow-exec='my-fn …'$/,
  )
  assert.equal(chosen({ exec: 'my-fn --x' }, { exec: ['my-fn --x'] }), 'program my-fn --x')
  assert.match(remedyOf({ exec: 'my-fn "' }, { exec: ['my-fn "'] }), /close every quote$/)
})

test('the release in the remedy of a refusal is built in', () => {
  for (const [name] of BUILT_IN) {
    const remedy = remedyOf({ image: `ghcr.io/kptdev/krm-functions-catalog/${name}:v9.9.9` })
    const [, use] =
      /^use (\S+), which is built in, or allow this image with --allow-image=\S+:v9\.9\.9$/.exec(
        remedy,
      ) ?? []
    if (use !== undefined) assert.match(chosen({ image: use }), new RegExp(`^${name} \\d$`))
    else {
      assert.match(remedy, new RegExp(`^name it by exec: ${name}, or `))
      assert.match(chosen({ exec: name }), / 0$/)
    }
  }
  assert.match(remedyOf({ image: 'set-image:latest' }), /^use \S+\/set-image:v0\.1\.1, /)
  assert.match(
    remedyOf({ image: `set-labels@${DIGEST}` }),
    /^name its release before the digest, as in :v1\.2\.3@sha256:…, or /,
  )
  assert.match(
    remedyOf({ image: 'starlark:v0.5.0' }),
    /^use a function that is built in, or allow this image with --allow-image=\S+starlark:v0\.5\.0$/,
  )
})

test('words are split as google/shlex splits them', () => {
  assert.deepEqual(splitWords('  a  "b c" d\\ e \'f"\\g\' # not this\n h#i '), [
    'a',
    'b c',
    'd e',
    'f"\\g',
    'h#i',
  ])
  assert.deepEqual(splitWords('a""b "" \'\' "\\"x\\y"'), ['ab', '', '', '"xy'])
  assert.deepEqual([splitWords(''), splitWords('# a')], [[], []])
  assert.deepEqual(
    [splitWords('"a'), splitWords("a 'b"), splitWords('a\\')],
    [undefined, undefined, undefined],
  )
})
