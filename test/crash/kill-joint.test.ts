import { describeKills } from './kill-at-writes.ts'
import { JOINT } from './scenarios-joint.ts'

describeKills('one cause in several clusters', JOINT)
