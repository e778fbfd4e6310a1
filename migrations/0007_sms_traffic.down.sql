DROP TABLE sms_traffic;
DROP FUNCTION sms_traffic_slot;
