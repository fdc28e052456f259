import assert from 'node:assert/strict'
import { test } from 'node:test'
import { BUILT_IN } from '../../../functions/built-in-functions.ts'
import { chosen, stepOf } from '../../../test/fakes/chosen-runtime.ts'
import { type AllowedFunctions, chooseRuntime, NOTHING_ALLOWED } from './choose-runtime.ts'
import { splitWords } from './split-words.ts'

const DIGEST = `sha256:${'a'.repeat(64)}`

test('rejects a function with an unsupported field, and skips such a validator', () => {
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

test('skips a validator that has no runtime, and runs a built-in or allowed one', () => {
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

test('allows a program by its text, or without arguments by its absolute path', () => {
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

test('allows a module by its absolute path, and matches it by path, by suffix or behind node, without arguments', () => {
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
      /^allow the module .*--allow-module=\/…\/team\.(?:mjs|mts|ts); no setting of the package can allow it$/,
      exec,
    )
})

test('allows an image by its text, or a pinned one by its folder', () => {
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

test('a rejection names the line of the Kptfile and the options of the operator (C10, C11)', () => {
  const reported = (what: Parameters<typeof stepOf>[0]) => {
    const choice = chooseRuntime(stepOf(what), NOTHING_ALLOWED, BUILT_IN)
    return choice.is === 'refused' ? choice.failure.toJSON() : undefined
  }
  assert.deepEqual(reported({ exec: '../../bin/sh' }), {
    code: 'BP1206',
    what: 'the pipeline wants to run a program, sh',
    where: 'apps/web/Kptfile:7 (mutator 1, sh)',
    why: 'exec "../../bin/sh": its path is relative, and there is no base folder for it',
    remedy:
      'name the program without a path in the Kptfile (exec: sh), and allow it by its absolute path: --allow-exec=/…/sh',
    retry: 'on-change',
  })
  assert.deepEqual(reported({ image: 'evil.example/x:latest' }), {
    code: 'BP1206',
    what: 'the pipeline wants to run an image, x',
    where: 'apps/web/Kptfile:7 (mutator 1, x)',
    why: 'evil.example/x:latest is not on the list of images that are allowed',
    remedy:
      'allow it with --allow-image=evil.example/x:latest; no setting of the package can allow it',
    retry: 'on-change',
  })
  assert.deepEqual(reported({ image: 'gcr.io/kpt-fn/set-labels:v0.1.4' }), {
    code: 'BP1201',
    what: 'RuntimeMissing(set-labels): no available runtime can run the function',
    where: 'apps/web/Kptfile:7 (mutator 1, set-labels)',
    why: 'the image gcr.io/kpt-fn/set-labels:v0.1.4: v0.1.4 is not a built-in release (v0.1.5, v0.2.0 to v0.2.1)',
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

test('the remedy for a rejected image allows it, including the tag field', () => {
  for (const what of [
    { image: 'evil.example/x:latest' },
    { image: `evil.example/x@${DIGEST}` },
    { image: 'evil.example/x', tag: 'edge' },
  ]) {
    const [, image = ''] =
      /^allow it with --allow-image=(\S+); no setting of the package can allow it$/.exec(
        remedyOf(what),
      ) ?? []
    assert.equal(chosen(what, { images: [image] }), `image ${image}`)
  }
})

test('the remedy for a rejected program allows it', () => {
  assert.match(remedyOf({ exec: 'my-fn' }), /^allow it with --allow-exec="my-fn"; /)
  assert.match(
    remedyOf({ exec: '/opt/my-fn --x' }),
    /^allow it with --allow-exec="\/opt\/my-fn --x"; /,
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

test('the release in the remedy of a rejection is built in', () => {
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

test('splits words like google/shlex', () => {
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
