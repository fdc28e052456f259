import { describeKills } from './kill-at-writes.ts'
import { ASKED } from './scenarios-requested.ts'

describeKills('commands', ASKED)
